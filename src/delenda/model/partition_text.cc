#include "delenda/model/partition_text.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "delenda/model/definition_lexer.h"
#include "delenda/model/transform_values.h"

namespace delenda {
namespace {

struct PartitionWord {
  std::string_view upper;
  std::string_view transform;  // as metadata has it
  std::string_view suffix;     // of the field's name
  bool has_number = false;
};
constexpr std::array kPartitionWords = {PartitionWord{"BUCKET", "bucket", "_bucket", true},
                                        PartitionWord{"TRUNCATE", "truncate", "_trunc", true},
                                        PartitionWord{"YEAR", "year", "_year"},
                                        PartitionWord{"YEARS", "year", "_year"},
                                        PartitionWord{"MONTH", "month", "_month"},
                                        PartitionWord{"MONTHS", "month", "_month"},
                                        PartitionWord{"DAY", "day", "_day"},
                                        PartitionWord{"DAYS", "day", "_day"},
                                        PartitionWord{"HOUR", "hour", "_hour"},
                                        PartitionWord{"HOURS", "hour", "_hour"},
                                        PartitionWord{"VOID", "void", "_null"},
                                        PartitionWord{"IDENTITY", "identity", ""}};

bool IsOfTime(const Transform& transform) {
  return transform.kind() >= Transform::Kind::kYear && transform.kind() <= Transform::Kind::kHour;
}

class PartitionParser {
 public:
  PartitionParser(DefinitionLexer lexer, const Schema& schema) : lexer_(std::move(lexer)), schema_(schema) {}

  Result<PartitionSpec> Fields() {
    PartitionSpec spec;
    do {
      PartitionField field = DELENDA_TRY(ParseField());
      field.field_id = 1000 + static_cast<int32_t>(spec.fields.size());
      DELENDA_TRY(Check(field, spec));
      spec.fields.push_back(std::move(field));
    } while (DELENDA_TRY(lexer_.TakeSign(',')));
    if (lexer_.peek().kind != DefinitionToken::Kind::kEnd) return lexer_.Unexpected("',' or the end");
    return spec;
  }

 private:
  Result<PartitionField> ParseField() {
    const DefinitionToken first = lexer_.peek();
    std::string column = DELENDA_TRY(lexer_.TakeName("a column or a transform"));
    if (!DELENDA_TRY(lexer_.TakeSign('('))) return MakeField(DELENDA_TRY(Dotted(std::move(column))), "identity", "");
    const auto known = std::ranges::find_if(kPartitionWords, [&](const auto& word) { return first.Is(word.upper); });
    if (known == kPartitionWords.end())
      return InvalidArgument(
          "partitioning, at byte {}: '{}' is no transform: there are bucket(N, c), truncate(N, c), year(c), month(c), "
          "day(c), hour(c), void(c), and a column alone",
          first.at, first.text);
    std::string transform(known->transform);
    if (known->has_number) {
      transform += fmt::format("[{}]", DELENDA_TRY(lexer_.TakeNumber("a whole number, then the column")));
      DELENDA_TRY(lexer_.Expect(','));
    }
    column = DELENDA_TRY(Dotted(DELENDA_TRY(lexer_.TakeName("a column"))));
    DELENDA_TRY(lexer_.Expect(')'));
    return MakeField(column, transform, known->suffix);
  }

  Result<std::string> Dotted(std::string name) {
    while (DELENDA_TRY(lexer_.TakeSign('.'))) name += "." + DELENDA_TRY(lexer_.TakeName("the name of a member"));
    return name;
  }

  Result<PartitionField> MakeField(const std::string& column, const std::string& transform, std::string_view suffix) {
    const Schema::Path path = schema_.FindByName(column);
    if (path.empty())
      return NotFound("partitioning: there is no column '{}': columns are {}", column, schema_.ColumnNames());
    if (!HasOneValueARow(path))
      return InvalidArgument("partitioning: '{}' lies within a list or map, which has many values for a row", column);
    auto parsed = Transform::Parse(transform);
    if (!parsed) return InvalidArgument("partitioning: {}", parsed.error().message());
    const Type& type = path.back()->type;
    if (type.is_nested() || !TransformTakes(parsed->kind(), type))
      return InvalidArgument("partitioning: {} does not take '{}', of type {}", parsed->ToString(), column,
                             type.ToString());
    return PartitionField{.source_id = path.back()->id,
                          .field_id = 0,
                          .name = FullName(path) + std::string(suffix),
                          .transform = *std::move(parsed)};
  }

  // What the reference implementation refuses for a new table.
  Result<void> Check(const PartitionField& field, const PartitionSpec& spec) const {
    for (const PartitionField& other : spec.fields) {
      if (other.source_id == field.source_id &&
          (other.transform == field.transform || (IsOfTime(other.transform) && IsOfTime(field.transform))))
        return InvalidArgument("partitioning: {} is redundant beside {}", field.name, other.name);
      if (other.name == field.name) return InvalidArgument("partitioning: two fields are named '{}'", field.name);
    }
    const Schema::Path column = schema_.FindByName(field.name);
    if (!column.empty() && FullName(column) == field.name &&
        (column.back()->id != field.source_id || field.transform.kind() != Transform::Kind::kIdentity))
      return InvalidArgument("partitioning: the field '{}' has the name of another column", field.name);
    return {};
  }

  DefinitionLexer lexer_;
  const Schema& schema_;
};

}  // namespace

Result<PartitionSpec> ParsePartitioning(std::string_view text, const Schema& schema) {
  return PartitionParser(DELENDA_TRY(DefinitionLexer::Make(text, "partitioning")), schema).Fields();
}

}  // namespace delenda
