#include "delenda/write/json_rows.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/read/arrow_type.h"
#include "delenda/write/datum_builder.h"

namespace delenda::write {
namespace {

using parquet::ToResult;
constexpr auto kOursToDecode = parquet::StatusSource::kCompute;

Result<void> Appended(const arrow::Status& status) { return ToResult(status, kOursToDecode); }

std::string LowerName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// The fields of a struct, or of the table, found by name.
class Members {
 public:
  explicit Members(const std::vector<Field>& fields) : fields_(fields) {
    for (size_t i = 0; i < fields.size(); ++i) exact_.emplace(fields[i].name, i);
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto [it, added] = folded_.emplace(LowerName(fields[i].name), i);
      if (!added) it->second = kAmbiguous;
    }
    for (const Field& field : fields) children_.emplace_back(field.type.fields());
  }

  // Index of a field, or nothing.
  std::optional<size_t> Find(std::string_view name) const {
    key_.assign(name);
    if (const auto it = exact_.find(key_); it != exact_.end()) return it->second;
    const auto it = folded_.find(LowerName(name));
    if (it == folded_.end() || it->second == kAmbiguous) return std::nullopt;
    return it->second;
  }
  const std::vector<Field>& fields() const { return fields_; }
  const Members& Of(size_t field) const { return children_[field]; }

 private:
  static constexpr size_t kAmbiguous = static_cast<size_t>(-1);
  const std::vector<Field>& fields_;
  std::unordered_map<std::string, size_t> exact_, folded_;
  std::vector<Members> children_;  // of nested fields
  mutable std::string key_;
};

class ValueAppender {
 public:
  explicit ValueAppender(bool ignore_unknown) : ignore_unknown_(ignore_unknown) {}

  // Members of `object` to the builders of the fields; each gets one value.
  Result<void> AppendMembers(const Members& members, json::Value object,
                             const std::vector<arrow::ArrayBuilder*>& builders) const {
    if (!object.is_object()) return Misfit(object, "an object");
    const json::Object parts = DELENDA_TRY(object.As<json::Object>());
    std::vector<std::optional<json::Value>> values(members.fields().size());
    for (const json::Value part : parts) {
      const auto field = members.Find(part.key());
      if (!field) {
        if (ignore_unknown_) continue;
        return InvalidArgument("{}: the table has no such column", part.Path());
      }
      if (values[*field])
        return InvalidArgument("{}: a second value for column '{}'", part.Path(), members.fields()[*field].name);
      values[*field] = part;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const Field& field = members.fields()[i];
      if (values[i]) {
        DELENDA_TRY(AppendValue(field, members.Of(i), *values[i], *builders[i]));
      } else if (field.write_default && !field.type.is_nested()) {
        DELENDA_TRY(AppendDatum(*builders[i], field.type, *field.write_default));
      } else {
        DELENDA_TRY(Appended(builders[i]->AppendNull()));
      }
    }
    return {};
  }

 private:
  static std::unexpected<Error> Misfit(json::Value value, std::string_view expected) {
    return InvalidArgument("{}: expected {}, found {}", value.Path(), expected, json::KindName(value.kind()));
  }

  Result<void> AppendValue(const Field& field, const Members& members, json::Value value,
                           arrow::ArrayBuilder& builder) const {
    if (value.is_null()) return Appended(builder.AppendNull());
    switch (field.type.kind()) {
      case TypeKind::kStruct: {
        auto& parent = static_cast<arrow::StructBuilder&>(builder);
        if (!value.is_object()) return Misfit(value, "an object");
        DELENDA_TRY(Appended(parent.Append()));
        std::vector<arrow::ArrayBuilder*> children;
        for (int i = 0; i < parent.num_fields(); ++i) children.push_back(parent.field_builder(i));
        return AppendMembers(members, value, children);
      }
      case TypeKind::kList: {
        if (!value.is_array()) return Misfit(value, "an array");
        auto& list = static_cast<arrow::ListBuilder&>(builder);
        DELENDA_TRY(Appended(list.Append()));
        const json::Array elements = DELENDA_TRY(value.As<json::Array>());
        for (const json::Value element : elements) {
          DELENDA_TRY(AppendValue(field.type.fields()[0], members.Of(0), element, *list.value_builder()));
        }
        return {};
      }
      case TypeKind::kMap: return AppendMap(field, members, value, static_cast<arrow::MapBuilder&>(builder));
      case TypeKind::kUnknown: return Misfit(value, "null");
      default: return AppendDatum(builder, field.type, DELENDA_TRY(PrimitiveValue(field.type, value)));
    }
  }

  Result<void> AppendMap(const Field& field, const Members& members, json::Value value,
                         arrow::MapBuilder& builder) const {
    const Field& key_field = field.type.fields()[0];
    const Field& item_field = field.type.fields()[1];
    DELENDA_TRY(Appended(builder.Append()));
    if (value.is_object()) {
      const json::Object entries = DELENDA_TRY(value.As<json::Object>());
      for (const json::Value entry : entries) {
        if (key_field.type.is_nested()) return Misfit(value, "an array of [key, value]");
        auto key = DatumFromText(key_field.type, entry.key());
        if (!key) return InvalidArgument("{}: {}", entry.Path(), key.error().message());
        DELENDA_TRY(AppendDatum(*builder.key_builder(), key_field.type, *key));
        DELENDA_TRY(AppendValue(item_field, members.Of(1), entry, *builder.item_builder()));
      }
      return {};
    }
    if (!value.is_array()) return Misfit(value, "an object or an array of [key, value]");
    const json::Array entries = DELENDA_TRY(value.As<json::Array>());
    for (const json::Value entry : entries) {
      if (!entry.is_array()) return Misfit(entry, "[key, value]");
      const json::Array pair = DELENDA_TRY(entry.As<json::Array>());
      if (pair.size() != 2)
        return InvalidArgument("{}: expected [key, value], found {} values", entry.Path(), pair.size());
      auto part = pair.begin();
      const json::Value key = *part;
      if (key.is_null()) return Misfit(key, "a key");
      DELENDA_TRY(AppendValue(key_field, members.Of(0), key, *builder.key_builder()));
      DELENDA_TRY(AppendValue(item_field, members.Of(1), *++part, *builder.item_builder()));
    }
    return {};
  }

  static Result<Datum> PrimitiveValue(const Type& type, json::Value value) {
    const json::Kind kind = value.kind();
    if (type.kind() == TypeKind::kBoolean) {
      if (kind != json::Kind::kBool) return Misfit(value, "true or false");
      return Datum(DELENDA_TRY(value.As<bool>()));
    }
    const bool numeric = type.kind() >= TypeKind::kInt && type.kind() <= TypeKind::kDecimal;
    std::string number;
    std::string_view text;
    if (kind == json::Kind::kString) {
      text = DELENDA_TRY(value.As<std::string_view>());
      if (type.kind() == TypeKind::kString) return Datum(std::string(text));
    } else if (numeric && (kind == json::Kind::kInteger || kind == json::Kind::kFloat)) {
      number = DELENDA_TRY(value.NumberText());
      text = number;
    } else {
      return Misfit(value, numeric ? "a number" : "a string");
    }
    auto datum = DatumFromText(type, text);
    if (!datum) return InvalidArgument("{}: {}", value.Path(), datum.error().message());
    return datum;
  }

  bool ignore_unknown_;
};

}  // namespace

struct JsonRows::State {
  Schema table;
  std::shared_ptr<arrow::Schema> schema;
  std::unique_ptr<Members> members;
  ValueAppender appender;
  std::vector<std::unique_ptr<arrow::ArrayBuilder>> owned;
  std::vector<arrow::ArrayBuilder*> builders;
  int64_t rows = 0;
};

JsonRows::JsonRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonRows::~JsonRows() = default;
JsonRows::JsonRows(JsonRows&&) noexcept = default;
JsonRows& JsonRows::operator=(JsonRows&&) noexcept = default;

Result<JsonRows> JsonRows::Make(const Schema& table, bool ignore_unknown_columns) {
  auto state = std::make_unique<State>(State{.table = table,
                                             .schema = nullptr,
                                             .members = nullptr,
                                             .appender = ValueAppender(ignore_unknown_columns),
                                             .owned = {},
                                             .builders = {}});
  state->members = std::make_unique<Members>(state->table.fields());
  arrow::FieldVector fields;
  for (const Field& field : table.fields()) {
    fields.push_back(DELENDA_TRY(read::ToArrowField(field)));
    std::unique_ptr<arrow::ArrayBuilder>& builder = state->owned.emplace_back();
    DELENDA_TRY(Appended(arrow::MakeBuilder(arrow::default_memory_pool(), fields.back()->type(), &builder)));
    state->builders.push_back(builder.get());
  }
  state->schema = arrow::schema(std::move(fields));
  return JsonRows(std::move(state));
}

const std::shared_ptr<arrow::Schema>& JsonRows::schema() const { return state_->schema; }
int64_t JsonRows::rows() const { return state_->rows; }

Result<void> JsonRows::Append(json::Value row) {
  DELENDA_TRY(state_->appender.AppendMembers(*state_->members, row, state_->builders));
  ++state_->rows;
  return {};
}

Result<std::shared_ptr<arrow::RecordBatch>> JsonRows::Finish() {
  arrow::ArrayVector columns;
  for (arrow::ArrayBuilder* builder : state_->builders) {
    columns.push_back(DELENDA_TRY(ToResult(builder->Finish(), kOursToDecode)));
  }
  return arrow::RecordBatch::Make(state_->schema, std::exchange(state_->rows, 0), std::move(columns));
}

Result<std::vector<std::string>> FirstMembers(LineReader& lines) {
  std::vector<std::string> names;
  std::string_view line;
  while (DELENDA_TRY(lines.Next(line))) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const json::Document document = DELENDA_TRY(json::Document::Parse(line));
    const json::Object members = DELENDA_TRY(document.root().As<json::Object>());
    for (const json::Value member : members) names.emplace_back(member.key());
    break;
  }
  return names;
}

}  // namespace delenda::write
