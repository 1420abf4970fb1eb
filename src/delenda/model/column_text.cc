#include "delenda/model/column_text.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "delenda/model/definition_lexer.h"

namespace delenda {
namespace {

constexpr int kDeepestColumn = 64;  // as schemas in JSON

struct TypeAlias {
  std::string_view upper, name;
};
constexpr std::array kTypeAliases = {TypeAlias{"BIGINT", "long"}, TypeAlias{"INTEGER", "int"},
                                     TypeAlias{"BOOL", "boolean"}};

class ColumnParser {
 public:
  explicit ColumnParser(DefinitionLexer lexer) : lexer_(std::move(lexer)) {}

  Result<std::vector<Field>> Columns() {
    std::vector<Field> fields;
    do {
      fields.push_back(DELENDA_TRY(Named("the name of a column", 0)));
    } while (DELENDA_TRY(lexer_.TakeSign(',')));
    if (lexer_.peek().kind != DefinitionToken::Kind::kEnd) return lexer_.Unexpected("',' or the end");
    return fields;
  }

 private:
  // A column, or a member of a struct.
  Result<Field> Named(std::string_view expected, int depth) {
    Field field;
    field.id = next_id_++;
    field.name = DELENDA_TRY(lexer_.TakeName(expected));
    if (depth > 0) DELENDA_TRY(lexer_.TakeSign(':'));
    field.type = DELENDA_TRY(ParseType(depth));
    field.required = DELENDA_TRY(ParseRequired());
    if (DELENDA_TRY(lexer_.TakeWord("DEFAULT"))) {
      field.write_default = field.initial_default = DELENDA_TRY(ParseDefault(field));
      if (!field.required) field.required = DELENDA_TRY(ParseRequired());
    }
    return field;
  }

  // An element of a list, a key or value of a map.
  Result<Field> Unnamed(int depth) {
    Field field;
    field.id = next_id_++;
    field.type = DELENDA_TRY(ParseType(depth));
    field.required = DELENDA_TRY(ParseRequired());
    return field;
  }

  Result<bool> ParseRequired() {
    if (!DELENDA_TRY(lexer_.TakeWord("NOT"))) {
      DELENDA_TRY(lexer_.TakeWord("NULL"));
      return false;
    }
    DELENDA_TRY(lexer_.ExpectWord("NULL"));
    return true;
  }

  Result<Type> ParseType(int depth) {
    if (depth >= kDeepestColumn) return InvalidArgument("columns: types nest deeper than {}", kDeepestColumn);
    if (DELENDA_TRY(lexer_.TakeWord("STRUCT"))) {
      DELENDA_TRY(lexer_.Expect('<'));
      std::vector<Field> members;
      do {
        members.push_back(DELENDA_TRY(Named("the name of a member", depth + 1)));
      } while (DELENDA_TRY(lexer_.TakeSign(',')));
      DELENDA_TRY(lexer_.Expect('>'));
      return Type::Struct(std::move(members));
    }
    if (DELENDA_TRY(lexer_.TakeWord("LIST")) || DELENDA_TRY(lexer_.TakeWord("ARRAY"))) {
      DELENDA_TRY(lexer_.Expect('<'));
      Field element = DELENDA_TRY(Unnamed(depth + 1));
      DELENDA_TRY(lexer_.Expect('>'));
      return Type::List(std::move(element));
    }
    if (DELENDA_TRY(lexer_.TakeWord("MAP"))) {
      DELENDA_TRY(lexer_.Expect('<'));
      Field key = DELENDA_TRY(Unnamed(depth + 1));
      key.required = true;
      DELENDA_TRY(lexer_.Expect(','));
      Field value = DELENDA_TRY(Unnamed(depth + 1));
      DELENDA_TRY(lexer_.Expect('>'));
      return Type::Map(std::move(key), std::move(value));
    }
    return ParsePrimitive();
  }

  Result<Type> ParsePrimitive() {
    const DefinitionToken word = lexer_.peek();
    const auto refuse = [&](const Error& error) {
      return InvalidArgument(
          "columns, at byte {}: {} (types are boolean, int, long, float, double, decimal(P, S), "
          "date, time, timestamp, timestamptz, timestamp_ns, timestamptz_ns, string, uuid, "
          "fixed[N], binary, struct<...>, list<...>, map<..., ...>)",
          word.at, error.message());
    };
    if (word.kind != DefinitionToken::Kind::kWord) return lexer_.Unexpected("a type");
    DELENDA_TRY(lexer_.Take());
    std::string text = word.text;
    for (const TypeAlias& alias : kTypeAliases) {
      if (word.Is(alias.upper)) text = alias.name;
    }
    for (const char* brackets : {"()", "[]"}) {
      if (!DELENDA_TRY(lexer_.TakeSign(brackets[0]))) continue;
      text += brackets[0] + std::to_string(DELENDA_TRY(lexer_.TakeNumber("a whole number")));
      if (DELENDA_TRY(lexer_.TakeSign(',')))
        text += "," + std::to_string(DELENDA_TRY(lexer_.TakeNumber("a whole number")));
      DELENDA_TRY(lexer_.Expect(brackets[1]));
      text += brackets[1];
    }
    auto type = Type::Parse(text);
    if (!type) return refuse(type.error());
    return type;
  }

  Result<Datum> ParseDefault(const Field& field) {
    const DefinitionToken token = DELENDA_TRY(lexer_.Take());
    const bool is_boolean = token.Is("TRUE") || token.Is("FALSE");
    if (token.kind != DefinitionToken::Kind::kNumber && token.kind != DefinitionToken::Kind::kText && !is_boolean)
      return InvalidArgument("columns, at byte {}: expected a default (a number, 'text', TRUE or FALSE), found {}",
                             token.at, token.Describe());
    if (field.type.kind() == TypeKind::kString && token.kind == DefinitionToken::Kind::kText) return Datum(token.text);
    auto value = DatumFromText(field.type, is_boolean ? (token.Is("TRUE") ? "true" : "false") : token.text);
    if (!value) return InvalidArgument("column '{}': {}", field.name, value.error().message());
    return value;
  }

  DefinitionLexer lexer_;
  int32_t next_id_ = 1;
};

}  // namespace

Result<Schema> ParseColumns(std::string_view text) {
  ColumnParser parser(DELENDA_TRY(DefinitionLexer::Make(text, "columns")));
  return Schema::Make(0, DELENDA_TRY(parser.Columns()));
}

}  // namespace delenda
