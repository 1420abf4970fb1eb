#include "delenda/read/column_adapter.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/read/arrow_type.h"
#include "delenda/read/constant_array.h"
#include "delenda/read/value_cast.h"

namespace delenda::read {

struct ColumnAdapter::Node {
  enum class Source : uint8_t { kConstant, kPrimitive, kNested };
  Source source = Source::kConstant;
  Type type;
  std::shared_ptr<arrow::DataType> arrow_type;  // of the result
  Datum constant;
  bool required = false;
  std::string name;
  int child = -1;  // which child of the parent, as it is read (cut down to the wanted leaves)
  std::vector<std::shared_ptr<const Node>> children;
};

namespace {

using Node = ColumnAdapter::Node;
using NodeRef = std::shared_ptr<const Node>;
using ArrayRef = std::shared_ptr<arrow::Array>;

// The file's schema as a tree that knows which leaves lie below each field.
struct FileField {
  const arrow::Field* field = nullptr;
  int first_leaf = 0;
  int end_leaf = 0;
  std::vector<FileField> children;
};

std::vector<FileField> FileFields(const arrow::FieldVector& fields, int first_leaf) {
  std::vector<FileField> result;
  for (const auto& field : fields) {
    FileField& added = result.emplace_back();
    added.field = field.get();
    added.first_leaf = first_leaf;
    added.end_leaf = first_leaf + parquet::CountLeaves(*field->type());
    const auto& type = *field->type();
    if (type.id() == arrow::Type::MAP) {
      // The entries' struct is no level of its own in the table's types.
      added.children = FileFields(type.field(0)->type()->fields(), first_leaf);
    } else {
      added.children = FileFields(type.fields(), first_leaf);
    }
    first_leaf = added.end_leaf;
  }
  return result;
}

class Mapper {
 public:
  Mapper(const parquet::ParquetFile& file, const ConstantColumns& constants)
      : constants_(constants),
        file_(file),
        ids_(file.field_ids()),
        wanted_(file.leaves().size(), false),
        fields_(FileFields(file.schema()->fields(), 0)) {}

  Result<std::vector<NodeRef>> Map(const std::vector<Field>& wanted) {
    std::vector<Draft> drafts;
    for (const Field& field : wanted) drafts.push_back(DELENDA_TRY(MapField(field, fields_, /*top_level=*/true)));
    std::vector<NodeRef> nodes;
    for (Draft& draft : drafts) nodes.push_back(Finish(std::move(draft), fields_));
    return nodes;
  }

  std::vector<int> Leaves() const {
    std::vector<int> leaves;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i]) leaves.push_back(static_cast<int>(i));
    }
    return leaves;
  }

 private:
  // A node before it is known which of its siblings are read.
  struct Draft {
    Node node;
    const FileField* file = nullptr;
    std::vector<Draft> children;
  };

  Result<const FileField*> FindById(int32_t id, std::string_view name, const std::vector<FileField>& fields) const {
    const FileField* found = nullptr;
    // Under a name mapping, a level without ids is one that the mapping does not know.
    bool any_id = fields.empty() || ids_ == parquet::FieldIds::kAssigned;
    for (const FileField& field : fields) {
      const std::optional<int32_t> field_id = parquet::FieldIdOf(*field.field);
      any_id |= field_id.has_value();
      if (field_id != id) continue;
      if (found != nullptr)
        return Corrupt("field id {} appears twice in the file: {}, {}", id, found->field->name(), field.field->name());
      found = &field;
    }
    // Taking the column as absent would return NULL for values that are there.
    if (any_id) return found;
    if (ids_ == parquet::FieldIds::kNone) {
      return NotSupported(
          "the file has no field ids and the table no name mapping to read it by: set the table property "
          "schema.name-mapping.default (column {})",
          name);
    }
    return NotSupported("the file has field ids, but none where column {} is looked for", name);
  }

  Result<Draft> MapField(const Field& field, const std::vector<FileField>& siblings, bool top_level) {
    const FileField* file = DELENDA_TRY(FindById(field.id, field.name, siblings));
    if (file != nullptr && field.type.kind() != TypeKind::kUnknown) return MapFound(field, *file);
    Draft draft = DELENDA_TRY(MakeDraft(field));
    const auto constant = constants_.find(field.id);
    if (top_level && constant != constants_.end()) {
      draft.node.constant = constant->second;
    } else if (field.initial_default) {
      draft.node.constant = *field.initial_default;
    }
    if (field.required && IsNull(draft.node.constant)) {
      return Corrupt("the file lacks the required column {} (field id {}), which has no default", field.name, field.id);
    }
    return draft;
  }

  Result<Draft> MakeDraft(const Field& field) {
    Draft draft;
    draft.node.type = field.type;
    draft.node.arrow_type = DELENDA_TRY(ToArrowField(field))
    ->type();
    draft.node.required = field.required;
    draft.node.name = field.name;
    return draft;
  }

  Result<Draft> MapFound(const Field& field, const FileField& file) {
    Draft draft = DELENDA_TRY(MakeDraft(field));
    draft.file = &file;
    const arrow::Type::type file_type = file.field->type()->id();
    if (!field.type.is_nested()) {
      if (!CanReadAs(*file.field->type(), field.type)) return WrongType(field, file);
      DELENDA_TRY(CheckPrecision(field, file));
      draft.node.source = Node::Source::kPrimitive;
      wanted_[static_cast<size_t>(file.first_leaf)] = true;
      return draft;
    }
    draft.node.source = Node::Source::kNested;
    switch (field.type.kind()) {
      case TypeKind::kStruct:
        if (file_type != arrow::Type::STRUCT) return WrongType(field, file);
        for (const Field& child : field.type.fields()) {
          draft.children.push_back(DELENDA_TRY(MapField(child, file.children, /*top_level=*/false)));
        }
        break;
      case TypeKind::kList:
        if (file_type != arrow::Type::LIST || file.children.size() != 1) return WrongType(field, file);
        draft.children.push_back(DELENDA_TRY(MapElement(field.type.fields()[0], file.children[0])));
        break;
      default:
        if (file_type != arrow::Type::MAP || file.children.size() != 2) return WrongType(field, file);
        draft.children.push_back(DELENDA_TRY(MapElement(field.type.fields()[0], file.children[0])));
        draft.children.push_back(DELENDA_TRY(MapElement(field.type.fields()[1], file.children[1])));
        break;
    }
    // Its NULLs and lengths must be read even when none of its wanted fields is in the file: any leaf tells.
    bool any = false;
    for (int leaf = file.first_leaf; leaf < file.end_leaf; ++leaf) any |= wanted_[static_cast<size_t>(leaf)];
    if (!any) {
      if (file.first_leaf == file.end_leaf) return WrongType(field, file);
      wanted_[static_cast<size_t>(file.first_leaf)] = true;
    }
    return draft;
  }

  // List elements, map keys and values: there is just one candidate, which must have the right id.
  Result<Draft> MapElement(const Field& field, const FileField& file) {
    const std::optional<int32_t> id = parquet::FieldIdOf(*file.field);
    if (id && *id != field.id) {
      return Corrupt("{} has field id {} in the file, {} in the table", field.name, *id, field.id);
    }
    return MapFound(field, file);
  }

  // Values of 12 bytes are decoded in microseconds, since nanoseconds would overflow before 1677 and after 2262: those
  // of a column of nanoseconds would be cut off in silence, and its keys not be found.
  Result<void> CheckPrecision(const Field& field, const FileField& file) const {
    const auto& leaf = file_.leaves()[static_cast<size_t>(file.first_leaf)];
    if (!field.type.is_nanos() || leaf.physical != ::parquet::Type::INT96) return {};
    return NotSupported(
        "column {} (field id {}) holds timestamps of 12 bytes (INT96), which are read in microseconds, not as {}: "
        "rewrite the file",
        field.name, field.id, field.type.ToString());
  }

  static std::unexpected<Error> WrongType(const Field& field, const FileField& file) {
    return Corrupt("column {} (field id {}) has type {} in the file, which cannot be read as {}", field.name, field.id,
                   file.field->type()->ToString(), field.type.ToString());
  }

  bool IsRead(const FileField& field) const {
    for (int leaf = field.first_leaf; leaf < field.end_leaf; ++leaf) {
      if (wanted_[static_cast<size_t>(leaf)]) return true;
    }
    return false;
  }

  NodeRef Finish(Draft draft, const std::vector<FileField>& siblings) {
    if (draft.file != nullptr) {
      draft.node.child = 0;
      for (const FileField& sibling : siblings) {
        if (&sibling == draft.file) break;
        if (IsRead(sibling)) ++draft.node.child;
      }
      for (Draft& child : draft.children) draft.node.children.push_back(Finish(std::move(child), draft.file->children));
    }
    return std::make_shared<const Node>(std::move(draft.node));
  }

  const ConstantColumns& constants_;
  const parquet::ParquetFile& file_;
  const parquet::FieldIds ids_;
  std::vector<bool> wanted_;
  std::vector<FileField> fields_;
};

Result<ArrayRef> AdaptArray(const Node& node, const ArrayRef& array);

Result<ArrayRef> AdaptChild(const Node& node, const arrow::ArrayVector& children, int64_t rows) {
  if (node.source == Node::Source::kConstant) return ConstantArray(node.type, node.arrow_type, node.constant, rows);
  if (node.child < 0 || static_cast<size_t>(node.child) >= children.size())
    return InternalError("column {} was not read", node.name);
  return AdaptArray(node, children[static_cast<size_t>(node.child)]);
}

// Structs, lists and maps keep their own buffers; only what is below them may change. Children are taken whole, not
// sliced, so that offsets stay valid.
Result<ArrayRef> AdaptNested(const Node& node, const ArrayRef& array) {
  const std::shared_ptr<arrow::ArrayData>& data = array->data();
  const auto adapt_fields =
      [&](const arrow::ArrayData& parent) -> Result<std::vector<std::shared_ptr<arrow::ArrayData>>> {
    arrow::ArrayVector children;
    for (const auto& child : parent.child_data) children.push_back(arrow::MakeArray(child));
    std::vector<std::shared_ptr<arrow::ArrayData>> adapted;
    const int64_t rows = children.empty() ? parent.offset + parent.length : children[0]->length();
    for (const NodeRef& child : node.children)
      adapted.push_back(DELENDA_TRY(AdaptChild(*child, children, rows))->data());
    return adapted;
  };
  std::shared_ptr<arrow::ArrayData> result = data->Copy();
  result->type = node.arrow_type;
  if (node.type.kind() == TypeKind::kMap) {
    if (data->child_data.size() != 1) return InternalError("map {} has no entries", node.name);
    std::shared_ptr<arrow::ArrayData> entries = data->child_data[0]->Copy();
    entries->type = node.arrow_type->field(0)->type();
    entries->child_data = DELENDA_TRY(adapt_fields(*data->child_data[0]));
    result->child_data = {std::move(entries)};
  } else {
    result->child_data = DELENDA_TRY(adapt_fields(*data));
  }
  return arrow::MakeArray(result);
}

Result<ArrayRef> AdaptArray(const Node& node, const ArrayRef& array) {
  if (node.source == Node::Source::kPrimitive) {
    Result<ArrayRef> cast = CastValues(array, node.type, node.arrow_type);
    if (!cast) cast.error().Add("column", node.name);
    return cast;
  }
  switch (node.type.kind()) {
    case TypeKind::kStruct:
      if (array->type_id() == arrow::Type::STRUCT) return AdaptNested(node, array);
      break;
    case TypeKind::kList:
      if (array->type_id() == arrow::Type::LIST) return AdaptNested(node, array);
      break;
    default:
      if (array->type_id() == arrow::Type::MAP) return AdaptNested(node, array);
      break;
  }
  return InternalError("column {} was read as {}", node.name, array->type()->ToString());
}

}  // namespace

Result<ColumnAdapter> ColumnAdapter::Make(const std::vector<Field>& wanted, const parquet::ParquetFile& file,
                                          const ConstantColumns& constants) {
  Mapper mapper(file, constants);
  ColumnAdapter adapter;
  adapter.columns_ = DELENDA_TRY(WithContext(mapper.Map(wanted), "file", file.path()));
  adapter.leaves_ = mapper.Leaves();
  return adapter;
}

Result<std::vector<std::shared_ptr<arrow::Array>>> ColumnAdapter::Adapt(const arrow::RecordBatch* batch,
                                                                        int64_t rows) const {
  arrow::ArrayVector children;
  if (batch != nullptr) children = batch->columns();
  arrow::ArrayVector result;
  for (const NodeRef& column : columns_) {
    ArrayRef array = DELENDA_TRY(AdaptChild(*column, children, rows));
    // The result's schema says that there are none, and whoever trusts it would read whatever lies in the NULLs' slots.
    if (column->required && array->null_count() != 0) {
      return Corrupt("required column {} holds {} NULLs", column->name, array->null_count());
    }
    result.push_back(std::move(array));
  }
  return result;
}

std::optional<FileLeaf> FindLeaf(const parquet::ParquetFile& file, const std::vector<int32_t>& path) {
  const arrow::FieldVector* fields = &file.schema()->fields();
  int leaf = 0;
  for (size_t depth = 0; depth < path.size(); ++depth) {
    const arrow::Field* found = nullptr;
    for (const auto& field : *fields) {
      if (parquet::FieldIdOf(*field) == path[depth]) {
        found = field.get();
        break;
      }
      leaf += parquet::CountLeaves(*field->type());
    }
    if (found == nullptr) return std::nullopt;
    const bool last = depth + 1 == path.size();
    if (last != !arrow::is_nested(found->type()->id())) return std::nullopt;
    if (last) return FileLeaf{leaf, found->type()};
    if (found->type()->id() != arrow::Type::STRUCT) return std::nullopt;
    fields = &found->type()->fields();
  }
  return std::nullopt;
}

}  // namespace delenda::read
