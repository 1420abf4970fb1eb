#include "delenda/formats/avro/program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace delenda::avro {
namespace {

// A table of 2,000 columns has a partition tuple of a few fields and six maps: some tens of columns here.
constexpr size_t kMaxColumns = 20'000;
// Keeps sums of sizes far from overflow; no block is as large.
constexpr uint64_t kHugeSize = uint64_t{1} << 40;

uint64_t AddSizes(uint64_t a, uint64_t b) { return std::min(kHugeSize, a + b); }

Storage StorageOf(Kind kind) {
  switch (kind) {
    case Kind::kNull: return Storage::kNull;
    case Kind::kBoolean:
    case Kind::kInt:
    case Kind::kLong: return Storage::kInt;
    case Kind::kFloat:
    case Kind::kDouble: return Storage::kReal;
    case Kind::kBytes:
    case Kind::kString:
    case Kind::kFixed:
    case Kind::kEnum: return Storage::kText;
    case Kind::kRecord: return Storage::kRecord;
    case Kind::kArray:
    case Kind::kMap: return Storage::kList;
    case Kind::kUnion: return Storage::kAbsent;
  }
  return Storage::kAbsent;
}

Step StepOf(Kind kind) {
  switch (kind) {
    case Kind::kBoolean: return Step::kBoolean;
    case Kind::kInt: return Step::kInt;
    case Kind::kLong: return Step::kLong;
    case Kind::kFloat: return Step::kFloat;
    case Kind::kDouble: return Step::kDouble;
    case Kind::kBytes: return Step::kBytes;
    case Kind::kString: return Step::kString;
    case Kind::kFixed: return Step::kFixed;
    case Kind::kEnum: return Step::kEnum;
    case Kind::kRecord: return Step::kRecord;
    case Kind::kArray:
    case Kind::kMap: return Step::kList;
    default: return Step::kNull;
  }
}

// Sizes of encoded types. Remembered per type: a schema of n records that each use the next one twice has 2^n paths.
class EncodedSizes {
 public:
  // Bytes that every value takes; nullopt if they differ.
  std::optional<uint64_t> Exact(const Type& type) {
    switch (type.kind) {
      case Kind::kNull: return 0;
      case Kind::kBoolean: return 1;
      case Kind::kFloat: return 4;
      case Kind::kDouble: return 8;
      case Kind::kFixed: return type.fixed_size;
      case Kind::kRecord: break;
      default: return std::nullopt;
    }
    // While the fields are looked at the record counts as of no fixed size, which is right if it contains itself.
    auto [known, is_new] = exact_.try_emplace(&type, std::nullopt);
    if (!is_new) return known->second;
    uint64_t sum = 0;
    for (const Field& field : type.fields) {
      auto size = Exact(*field.type);
      if (!size) return std::nullopt;
      sum = AddSizes(sum, *size);
    }
    return exact_[&type] = sum;
  }

  uint64_t Least(const Type& type) {
    switch (type.kind) {
      case Kind::kUnion: {
        uint64_t least = kHugeSize;
        for (const Type* branch : type.branches) least = std::min(least, Least(*branch));
        return type.branches.empty() ? 1 : AddSizes(1, least);
      }
      case Kind::kRecord: {
        auto [known, is_new] = least_.try_emplace(&type, 0);
        if (!is_new) return known->second;
        uint64_t sum = 0;
        for (const Field& field : type.fields) sum = AddSizes(sum, Least(*field.type));
        return least_[&type] = sum;
      }
      default: return Exact(type).value_or(1);
    }
  }

 private:
  std::unordered_map<const Type*, std::optional<uint64_t>> exact_;
  std::unordered_map<const Type*, uint64_t> least_;
};

}  // namespace

class ProgramCompiler {
 public:
  explicit ProgramCompiler(const std::shared_ptr<const Schema>& schema) : schema_(schema) {}

  Result<Columns> Compile(const Projection& projection) {
    const Type& root = schema_->root();
    if (root.kind != Kind::kRecord) {
      return NotSupported("Avro file of {} values: only records are read", KindName(root.kind));
    }
    out_.schema_ = schema_;
    out_.program_ = std::make_unique<Program>();
    program_ = out_.program_.get();
    DELENDA_TRY(Fields(root, projection.everything ? nullptr : &projection.fields, /*maybe_null=*/false, out_.fields_,
                       program_->group));
    program_->row_end = Here();
    program_->min_row_bytes = sizes_.Least(root);
    Subroutines();
    return std::move(out_);
  }

 private:
  using Group = std::vector<Column*>;

  uint32_t Here() const { return static_cast<uint32_t>(program_->ops.size()); }

  size_t Emit(Step step) {
    program_->ops.push_back(Op{});
    program_->ops.back().step = step;
    return program_->ops.size() - 1;
  }

  // Marks the step to come as one that is jumped to: a skip before it must not swallow it.
  uint32_t Label() { return label_ = Here(); }

  Result<Column*> NewColumn(std::string name, int32_t id) {
    if (out_.all_.size() >= kMaxColumns)
      return NotSupported("more than {} columns of an Avro file wanted", kMaxColumns);
    Column& column = out_.all_.emplace_back();
    column.name_ = std::move(name);
    column.id_ = id;
    return &column;
  }

  // What the writer's schema lacks, with all that was wanted inside it.
  Result<Column*> Absent(const Wanted& wanted) {
    Column* column = DELENDA_TRY(NewColumn(wanted.name, wanted.id));
    for (const Wanted& inner : wanted.fields) column->children_.push_back(DELENDA_TRY(Absent(inner)));
    return column;
  }

  // The steps of all fields of a record, in the writer's order. `wanted`: nullptr for everything.
  Result<void> Fields(const Type& record, const std::vector<Wanted>* wanted, bool maybe_null,
                      std::vector<const Column*>& children, Group& group) {
    // Columns for a record inside itself would have no end.
    if (!open_.insert(&record).second) return NotSupported("Avro record \"{}\" contains itself", record.name);
    std::vector<const Wanted*> of_field(record.fields.size(), nullptr);
    std::vector<Column*> columns(record.fields.size(), nullptr);
    DELENDA_TRY(CheckIds(record));
    if (wanted == nullptr) {
      for (size_t i = 0; i < record.fields.size(); ++i) {
        columns[i] = DELENDA_TRY(NewColumn(record.fields[i].name, record.fields[i].id));
        children.push_back(columns[i]);
      }
    } else {
      for (const Wanted& field : *wanted) {
        const std::optional<size_t> at = Match(record, field);
        if (!at) {
          children.push_back(DELENDA_TRY(Absent(field)));
          continue;
        }
        if (columns[*at] != nullptr) {
          return InvalidArgument("Avro field \"{}\" is wanted twice", record.fields[*at].name);
        }
        columns[*at] = DELENDA_TRY(NewColumn(record.fields[*at].name, field.id));
        of_field[*at] = &field;
        children.push_back(columns[*at]);
      }
    }
    for (size_t i = 0; i < record.fields.size(); ++i) {
      if (columns[i] == nullptr) {
        Skip(*record.fields[i].type);
      } else {
        const bool all = of_field[i] == nullptr || of_field[i]->fields.empty();
        const size_t at = program_->ops.size();
        DELENDA_TRY(
            Value(*record.fields[i].type, all ? nullptr : &of_field[i]->fields, maybe_null, *columns[i], group));
        if (of_field[i] != nullptr && columns[i]->storage_ == Storage::kList)
          KeepOnlyKeys(program_->ops[at], of_field[i]->only_keys);
      }
    }
    open_.erase(&record);
    return {};
  }

  static Result<void> CheckIds(const Type& record) {
    std::set<int32_t> seen;
    for (const Field& field : record.fields) {
      // Two fields under one id: which of them is read would be chance.
      if (field.id != kNoId && !seen.insert(field.id).second) {
        return Corrupt("Avro record \"{}\" has two fields with id {}", record.name, field.id);
      }
    }
    return {};
  }

  static std::optional<size_t> Match(const Type& record, const Wanted& wanted) {
    const bool has_ids = std::ranges::any_of(record.fields, [](const Field& field) { return field.id != kNoId; });
    const bool by_name = wanted.id == kNoId || !has_ids;
    for (size_t i = 0; i < record.fields.size(); ++i) {
      const Field& field = record.fields[i];
      if (by_name ? field.name == wanted.name : field.id == wanted.id) return i;
    }
    return std::nullopt;
  }

  // The steps of one wanted value. `group`: the columns that get their rows together with this one.
  Result<void> Value(const Type& written, const std::vector<Wanted>* wanted, bool maybe_null, Column& column,
                     Group& group) {
    const Type& type = written.WithoutNull();
    if (type.kind == Kind::kUnion) {
      return NotSupported("Avro field \"{}\" is a union of {} types other than null and one more", column.name_,
                          type.branches.size());
    }
    column.type_ = &type;
    column.storage_ = StorageOf(type.kind);
    column.maybe_null_ = maybe_null || written.is_nullable() || type.kind == Kind::kNull;
    group.push_back(&column);
    if (type.kind == Kind::kNull) return {};
    if (type.kind == Kind::kRecord && !column.maybe_null_) {
      return Fields(type, wanted, /*maybe_null=*/false, column.children_, group);
    }
    const size_t at = Emit(StepOf(type.kind));
    program_->ops[at].column = &column;
    if (written.is_nullable()) program_->ops[at].null_branch = written.branches[0]->kind == Kind::kNull ? 0 : 1;
    program_->ops[at].type = &type;
    program_->ops[at].size = type.fixed_size;
    if (type.kind == Kind::kRecord) {
      const size_t below = group.size();
      DELENDA_TRY(Fields(type, wanted, column.maybe_null_, column.children_, group));
      program_->ops[at].group.assign(group.begin() + static_cast<ptrdiff_t>(below), group.end());
    } else if (type.kind == Kind::kArray || type.kind == Kind::kMap) {
      DELENDA_TRY(Elements(type, wanted, column, at));
    }
    program_->ops[at].end = Label();
    return {};
  }

  Result<void> Elements(const Type& list, const std::vector<Wanted>* wanted, Column& column, size_t at) {
    Group group;
    uint64_t least = sizes_.Least(*list.element);
    if (list.kind == Kind::kMap) {
      const Wanted* key_wanted = Inner(wanted, list.key_id, "key");
      Column* key = DELENDA_TRY(NewColumn("key", key_wanted != nullptr ? key_wanted->id : list.key_id));
      key->storage_ = Storage::kText;
      key->maybe_null_ = false;
      column.children_.push_back(key);
      group.push_back(key);
      program_->ops[Emit(Step::kString)].column = key;
      least = AddSizes(1, least);
    }
    const char* name = list.kind == Kind::kMap ? "value" : "element";
    const Wanted* inner = Inner(wanted, list.element_id, name);
    Column* element = DELENDA_TRY(NewColumn(name, inner != nullptr ? inner->id : list.element_id));
    column.children_.push_back(element);
    const std::vector<Wanted>* below = inner != nullptr && !inner->fields.empty() ? &inner->fields : nullptr;
    // The fields of an array's element record are named directly below the array.
    if (list.kind == Kind::kArray && list.element->WithoutNull().kind == Kind::kRecord && inner == nullptr)
      below = wanted;
    Label();
    DELENDA_TRY(Value(*list.element, below, /*maybe_null=*/false, *element, group));
    program_->ops[at].size = least;
    program_->ops[at].group = std::move(group);
    program_->ops[at].shape = ShapeFrom(at + 1);
    return {};
  }

  static void KeepOnlyKeys(Op& list, const std::vector<int32_t>& keys) {
    if (list.shape == Shape::kIntAndNumber || list.shape == Shape::kIntAndBytes) list.only_keys = keys;
  }

  // The shape of the list whose element's steps are all from `first` on.
  Shape ShapeFrom(size_t first) const {
    if (program_->ops.size() != first + 2) return Shape::kAny;
    const Op& key = program_->ops[first];
    const Op& value = program_->ops[first + 1];
    if (key.step == Step::kSkipVarints && key.size == 1 && value.step == Step::kSkipText) {
      return Shape::kSkipNumberAndText;
    }
    for (const Op* op : {&key, &value}) {
      if (op->null_branch != kNoNullBranch || op->column == nullptr || op->column->maybe_null_) return Shape::kAny;
    }
    if (key.step != Step::kInt) return Shape::kAny;
    if (value.step == Step::kLong) return Shape::kIntAndNumber;
    return value.step == Step::kBytes ? Shape::kIntAndBytes : Shape::kAny;
  }

  static const Wanted* Inner(const std::vector<Wanted>* wanted, int32_t id, std::string_view name) {
    if (wanted == nullptr) return nullptr;
    for (const Wanted& field : *wanted) {
      if (id != kNoId && field.id != kNoId ? field.id == id : field.name == name) return &field;
    }
    return nullptr;
  }

  void SkipRun(Step step, uint64_t size) {
    if (size == 0) return;
    // Neighbours become one step, unless something jumps to the second one.
    if (Here() > label_ && !program_->ops.empty() && program_->ops.back().step == step) {
      program_->ops.back().size = AddSizes(program_->ops.back().size, size);
      return;
    }
    program_->ops[Emit(step)].size = size;
  }

  void Skip(const Type& type) {
    if (auto exact = sizes_.Exact(type)) return SkipRun(Step::kSkipBytes, *exact);
    switch (type.kind) {
      case Kind::kInt:
      case Kind::kLong:
      case Kind::kEnum: return SkipRun(Step::kSkipVarints, 1);
      case Kind::kBytes:
      case Kind::kString: Emit(Step::kSkipText); return;
      case Kind::kRecord: return SkipRecord(type);
      case Kind::kArray:
      case Kind::kMap: {
        const size_t at = Emit(Step::kSkipList);
        Label();
        if (type.kind == Kind::kMap) Emit(Step::kSkipText);
        Skip(*type.element);
        program_->ops[at].size = AddSizes(sizes_.Least(*type.element), type.kind == Kind::kMap ? 1 : 0);
        program_->ops[at].shape = ShapeFrom(at + 1);
        program_->ops[at].end = Label();
        return;
      }
      case Kind::kUnion: return SkipUnion(type);
      default: return;
    }
  }

  void SkipUnion(const Type& type) {
    if (type.is_nullable()) {
      const size_t at = Emit(Step::kSkipNullable);
      program_->ops[at].null_branch = type.branches[0]->kind == Kind::kNull ? 0 : 1;
      Label();
      Skip(type.WithoutNull());
      program_->ops[at].end = Label();
      return;
    }
    const size_t at = Emit(Step::kSkipUnion);
    std::vector<size_t> jumps;
    for (const Type* branch : type.branches) {
      program_->ops[at].targets.push_back(Label());
      Skip(*branch);
      jumps.push_back(Emit(Step::kJump));
    }
    const uint32_t end = Label();
    for (const size_t jump : jumps) program_->ops[jump].end = end;
  }

  // In place where it is met first, called as a subroutine after that: a program as long as the schema, never as all
  // paths through it, and records that contain themselves can be stepped over.
  void SkipRecord(const Type& record) {
    if (inlined_.insert(&record).second) {
      for (const Field& field : record.fields) Skip(*field.type);
      return;
    }
    auto [known, is_new] = subroutines_.try_emplace(&record, std::pair<uint32_t, uint32_t>(0, 0));
    if (is_new) pending_.push_back(&record);
    const size_t at = Emit(Step::kSkipCall);
    program_->ops[at].type = &record;
  }

  void Subroutines() {
    while (!pending_.empty()) {
      const Type* record = pending_.back();
      pending_.pop_back();
      const uint32_t begin = Label();
      for (const Field& field : record->fields) Skip(*field.type);
      subroutines_[record] = {begin, Label()};
    }
    for (Op& op : program_->ops) {
      if (op.step == Step::kSkipCall) std::tie(op.begin, op.end) = subroutines_[op.type];
    }
  }

  std::shared_ptr<const Schema> schema_;
  Columns out_;
  Program* program_ = nullptr;
  EncodedSizes sizes_;
  uint32_t label_ = 0;
  std::set<const Type*> open_;
  std::set<const Type*> inlined_;
  std::map<const Type*, std::pair<uint32_t, uint32_t>> subroutines_;
  std::vector<const Type*> pending_;
};

Result<Columns> Compile(const std::shared_ptr<const Schema>& schema, const Projection& projection) {
  return ProgramCompiler(schema).Compile(projection);
}

}  // namespace delenda::avro
