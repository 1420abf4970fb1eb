#include "delenda/write/infer_json.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "delenda/formats/json/json.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/write/input_stream.h"
#include "delenda/write/schema_from_arrow.h"

namespace delenda::write {
namespace {

constexpr size_t kMostColumns = 10000;

constexpr const char* kSayTypes = "state the columns and their types instead (--columns)";

// What the values of one place had in common so far.
struct SeenType {
  enum class Kind : uint8_t { kNothing, kBoolean, kLong, kDouble, kString, kStruct, kList };
  Kind kind = Kind::kNothing;  // kNothing: null only
  std::vector<std::pair<std::string, std::unique_ptr<SeenType>>> members;
  std::unordered_map<std::string, size_t> index;
  std::unique_ptr<SeenType> element;
};

class Inference {
 public:
  Result<void> AddRow(json::Value row) {
    if (!row.is_object()) return InvalidArgument("{}: expected an object, found {}", row.Path(), KindName(row.kind()));
    return Add(root_, row);
  }

  Result<std::vector<Field>> Columns() {
    if (root_.members.empty()) return InvalidArgument("there are no rows that tell the columns: {}", kSayTypes);
    return Fields(root_, "");
  }

 private:
  static SeenType::Kind KindOf(json::Value value) {
    switch (value.kind()) {
      case json::Kind::kNull: return SeenType::Kind::kNothing;
      case json::Kind::kBool: return SeenType::Kind::kBoolean;
      case json::Kind::kInteger: return SeenType::Kind::kLong;
      case json::Kind::kFloat: return SeenType::Kind::kDouble;
      case json::Kind::kString: return SeenType::Kind::kString;
      case json::Kind::kArray: return SeenType::Kind::kList;
      case json::Kind::kObject: break;
    }
    return SeenType::Kind::kStruct;
  }
  static std::string_view NameOf(SeenType::Kind kind) {
    static constexpr std::string_view kNames[] = {"null",    "booleans", "whole numbers", "numbers",
                                                  "strings", "objects",  "arrays"};
    return kNames[static_cast<size_t>(kind)];
  }

  Result<void> Add(SeenType& seen, json::Value value) {
    const SeenType::Kind kind = KindOf(value);
    if (kind == SeenType::Kind::kNothing) return {};
    if (kind == SeenType::Kind::kLong && !value.As<int64_t>())
      return InvalidArgument("{}: the number does not fit in 64 bits: {}", value.Path(), kSayTypes);
    const auto is_number = [](SeenType::Kind one) {
      return one == SeenType::Kind::kLong || one == SeenType::Kind::kDouble;
    };
    if (seen.kind == SeenType::Kind::kNothing || (is_number(seen.kind) && is_number(kind) && kind > seen.kind)) {
      seen.kind = kind;
    } else if (seen.kind != kind && !(is_number(seen.kind) && is_number(kind))) {
      return InvalidArgument("{}: {} here, {} in other rows, and no type holds both: {}", value.Path(), NameOf(kind),
                             NameOf(seen.kind), kSayTypes);
    }
    if (kind == SeenType::Kind::kList) {
      if (!seen.element) seen.element = std::make_unique<SeenType>();
      for (const json::Value element : DELENDA_TRY(value.As<json::Array>())) DELENDA_TRY(Add(*seen.element, element));
    } else if (kind == SeenType::Kind::kStruct) {
      for (const json::Value member : DELENDA_TRY(value.As<json::Object>())) {
        const auto [place, is_new] = seen.index.emplace(std::string(member.key()), seen.members.size());
        if (is_new) {
          // Objects that are maps in truth, with keys of their own in each row, would fill all memory.
          if (++columns_ > kMostColumns)
            return InvalidArgument("{}: more than {} columns: {}", member.Path(), kMostColumns, kSayTypes);
          seen.members.emplace_back(place->first, std::make_unique<SeenType>());
        }
        DELENDA_TRY(Add(*seen.members[place->second].second, member));
      }
    }
    return {};
  }

  Result<std::vector<Field>> Fields(const SeenType& seen, const std::string& path) {
    std::vector<Field> fields;
    for (const auto& [name, type] : seen.members) {
      Field& field = fields.emplace_back();
      field.id = next_id_++;
      field.name = name;
      field.type = DELENDA_TRY(TypeOf(*type, path.empty() ? name : path + "." + name));
    }
    return fields;
  }

  Result<Type> TypeOf(const SeenType& seen, const std::string& path) {
    switch (seen.kind) {
      case SeenType::Kind::kBoolean: return Type(TypeKind::kBoolean);
      case SeenType::Kind::kLong: return Type(TypeKind::kLong);
      case SeenType::Kind::kDouble: return Type(TypeKind::kDouble);
      case SeenType::Kind::kString: return Type(TypeKind::kString);
      case SeenType::Kind::kStruct:
        if (!seen.members.empty()) return Type::Struct(DELENDA_TRY(Fields(seen, path)));
        break;
      case SeenType::Kind::kList: {
        Field element;
        element.id = next_id_++;
        element.type = DELENDA_TRY(TypeOf(*seen.element, path + ".element"));
        return Type::List(std::move(element));
      }
      case SeenType::Kind::kNothing: break;
    }
    return InvalidArgument("column '{}' is null or empty in every row, which tells no type: {}", path, kSayTypes);
  }

  SeenType root_{.kind = SeenType::Kind::kStruct, .members = {}, .index = {}, .element = nullptr};
  size_t columns_ = 0;
  int32_t next_id_ = 1;
};

}  // namespace

Result<Schema> InferJsonSchema(io::FileIO& io, std::string_view path) {
  const auto infer = [&]() -> Result<Schema> {
    LineReader lines(DELENDA_TRY(OpenBytes(io, path)));
    Inference inference;
    std::string_view line;
    while (DELENDA_TRY(lines.Next(line))) {
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      const auto add = [&]() -> Result<void> {
        const json::Document document = DELENDA_TRY(json::Document::Parse(line));
        return inference.AddRow(document.root());
      };
      if (auto added = add(); !added) {
        added.error().Add("line", static_cast<uint64_t>(lines.number()));
        return std::unexpected(std::move(added).error());
      }
    }
    const Schema schema = DELENDA_TRY(Schema::Make(0, DELENDA_TRY(inference.Columns())));
    return WithFreshIds(schema);
  };
  return WithContext(parquet::Guarded(infer), "file", path);
}

}  // namespace delenda::write
