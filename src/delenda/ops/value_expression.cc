#include "delenda/ops/value_expression.h"

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/model/expression_lexer.h"
#include "delenda/read/arrow_type.h"
#include "delenda/read/constant_array.h"

namespace delenda::ops {

struct ValueExpression::Node {
  enum class Kind : uint8_t { kLiteral, kNull, kColumn, kCall };
  Kind kind = Kind::kNull;
  Datum value;                                         // kLiteral
  Type type;                                           // kLiteral
  std::string name;                                    // kColumn: at the top level; kCall: the sign
  std::vector<int> fields;                             // kColumn: from there down through structs, by index
  std::vector<std::shared_ptr<const Node>> arguments;  // kCall: two
};

namespace {

using ValueNode = ValueExpression::Node;
using ValueNodeRef = std::shared_ptr<const ValueNode>;
using ArrayRef = std::shared_ptr<arrow::Array>;

constexpr int kMaxValueDepth = 100;
constexpr size_t kMaxValueBytes = size_t{1} << 16;

class ValueParser {
 public:
  ValueParser(std::string_view text, const Schema& schema, const Field& target)
      : lexer_(text, FilterLexer::Signs::kArithmetic), schema_(schema), target_(target) {}

  Result<ValueNodeRef> Parse() {
    DELENDA_TRY(Advance());
    auto node = DELENDA_TRY(ParseSum(0));
    if (token_.kind != FilterToken::Kind::kEnd) return Expected("an operator or the end");
    // Alone, a literal is a value of the column, whatever it looks like.
    if (literal_ && node == literal_node_) return DELENDA_TRY(LiteralOf(target_.type, *literal_));
    return node;
  }
  std::vector<std::string> TakeColumns() { return std::move(columns_); }

 private:
  Result<void> Advance() {
    token_ = DELENDA_TRY(lexer_.Next());
    return {};
  }
  std::unexpected<Error> Expected(std::string_view what) const {
    return InvalidArgument("value, at byte {}: expected {}, found {}", token_.at, what, token_.Describe());
  }

  Result<ValueNodeRef> ParseSum(int depth) {
    if (depth > kMaxValueDepth) return InvalidArgument("value: nested too deeply");
    auto left = DELENDA_TRY(ParseProduct(depth + 1));
    while (token_.IsSign("+") || token_.IsSign("-") || token_.IsSign("||")) {
      const std::string sign = token_.text;
      DELENDA_TRY(Advance());
      left = Call(sign, std::move(left), DELENDA_TRY(ParseProduct(depth + 1)));
    }
    return left;
  }
  Result<ValueNodeRef> ParseProduct(int depth) {
    auto left = DELENDA_TRY(ParseUnary(depth + 1));
    while (token_.IsSign("*") || token_.IsSign("/")) {
      const std::string sign = token_.text;
      DELENDA_TRY(Advance());
      left = Call(sign, std::move(left), DELENDA_TRY(ParseUnary(depth + 1)));
    }
    return left;
  }
  Result<ValueNodeRef> ParseUnary(int depth) {
    if (depth > kMaxValueDepth) return InvalidArgument("value: nested too deeply");
    if (!token_.IsSign("-")) return ParsePrimary(depth);
    DELENDA_TRY(Advance());
    if (token_.kind == FilterToken::Kind::kNumber) {
      token_.text.insert(0, "-");
      return ParsePrimary(depth);
    }
    return Call("-", DELENDA_TRY(LiteralOf(TypeKind::kInt, "0")), DELENDA_TRY(ParseUnary(depth + 1)));
  }
  Result<ValueNodeRef> ParsePrimary(int depth) {
    if (token_.IsSign("(")) {
      DELENDA_TRY(Advance());
      auto node = DELENDA_TRY(ParseSum(depth + 1));
      if (!token_.IsSign(")")) return Expected("')'");
      DELENDA_TRY(Advance());
      return node;
    }
    switch (token_.kind) {
      case FilterToken::Kind::kNumber: return Literal(DELENDA_TRY(TypeOfNumber(token_.text)), token_.text);
      case FilterToken::Kind::kText: return Literal(TypeKind::kString, token_.text);
      case FilterToken::Kind::kHex: return Literal(TypeKind::kBinary, token_.text);
      case FilterToken::Kind::kName: return ParseName();
      default: return Expected("a value");
    }
  }
  Result<ValueNodeRef> ParseName() {
    if (token_.Is("NULL")) {
      DELENDA_TRY(Advance());
      return std::make_shared<const ValueNode>();
    }
    if (token_.Is("TRUE") || token_.Is("FALSE"))
      return Literal(TypeKind::kBoolean, token_.Is("TRUE") ? "true" : "false");
    if (token_.Is("DATE") || token_.Is("TIMESTAMP")) {
      const Type type = token_.Is("DATE") ? TypeKind::kDate : TypeKind::kTimestamp;
      const FilterToken word = token_;
      DELENDA_TRY(Advance());
      if (token_.kind == FilterToken::Kind::kText) return Literal(type, token_.text);
      return Column(word);  // a column of that name
    }
    const FilterToken name = token_;
    DELENDA_TRY(Advance());
    return Column(name);
  }
  Result<ValueNodeRef> Column(const FilterToken& name) {
    const auto path = schema_.FindByName(name.text);
    if (path.empty()) return InvalidArgument("value, at byte {}: there is no column '{}'", name.at, name.text);
    if (!HasOneValueARow(path)) {
      return InvalidArgument("value, at byte {}: '{}' lies in a list or map: a row has no single value of it", name.at,
                             name.text);
    }
    auto node = std::make_shared<ValueNode>();
    node->kind = ValueNode::Kind::kColumn;
    node->name = path[0]->name;
    for (size_t i = 1; i < path.size(); ++i) {
      const auto& siblings = path[i - 1]->type.fields();
      node->fields.push_back(static_cast<int>(path[i] - siblings.data()));
    }
    if (std::ranges::find(columns_, node->name) == columns_.end()) columns_.push_back(node->name);
    return node;
  }

  Result<ValueNodeRef> Literal(const Type& type, std::string text) {
    auto node = DELENDA_TRY(LiteralOf(type, text));
    literal_ = std::move(text);
    literal_node_ = node;
    DELENDA_TRY(Advance());
    return node;
  }
  Result<ValueNodeRef> LiteralOf(const Type& type, std::string_view text) const {
    auto node = std::make_shared<ValueNode>();
    node->kind = ValueNode::Kind::kLiteral;
    node->type = type;
    node->value = DELENDA_TRY(DatumFromText(type, text));
    return node;
  }
  static ValueNodeRef Call(std::string sign, ValueNodeRef left, ValueNodeRef right) {
    auto node = std::make_shared<ValueNode>();
    node->kind = ValueNode::Kind::kCall;
    node->name = std::move(sign);
    node->arguments = {std::move(left), std::move(right)};
    return node;
  }
  // 12 long, 1.50 decimal(3, 2), 1e3 double.
  static Result<Type> TypeOfNumber(std::string_view text) {
    if (text.find_first_of("eE") != std::string_view::npos) return Type(TypeKind::kDouble);
    const size_t dot = text.find('.');
    if (dot == std::string_view::npos) return Type(TypeKind::kLong);
    const auto digits = static_cast<int>(std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }));
    const auto scale = static_cast<int>(text.size() - dot - 1);
    if (digits > 38) return InvalidArgument("value: the number {} has more than 38 digits", text);
    return Type::Decimal(std::max(digits, 1), scale);
  }

  FilterLexer lexer_;
  FilterToken token_;
  const Schema& schema_;
  const Field& target_;
  std::vector<std::string> columns_;
  std::optional<std::string> literal_;  // the last one
  ValueNodeRef literal_node_;
};

// Arrow says what does not fit: the caller's values, not our fault.
Result<ArrayRef> ComputedArray(arrow::Result<arrow::Datum> result, int64_t rows) {
  if (!result.ok()) return InvalidArgument("{}", result.status().message());
  const arrow::Datum& datum = *result;
  if (datum.is_array()) return datum.make_array();
  return parquet::ToResult(arrow::MakeArrayFromScalar(*datum.scalar(), rows), parquet::StatusSource::kCompute);
}

Result<ArrayRef> CastTo(const ArrayRef& array, const std::shared_ptr<arrow::DataType>& type) {
  if (array->type()->Equals(*type)) return array;
  return ComputedArray(arrow::compute::Cast(arrow::Datum(array), type, arrow::compute::CastOptions::Safe()),
                       array->length());
}

Result<ArrayRef> EvaluateValue(const ValueNode& node, const arrow::RecordBatch& batch) {
  const int64_t rows = batch.num_rows();
  switch (node.kind) {
    case ValueNode::Kind::kNull:
      return parquet::ToResult(arrow::MakeArrayOfNull(arrow::null(), rows), parquet::StatusSource::kCompute);
    case ValueNode::Kind::kLiteral:
      return read::ConstantArray(node.type, DELENDA_TRY(read::ToArrowType(node.type)), node.value, rows);
    case ValueNode::Kind::kColumn: {
      auto column = batch.GetColumnByName(node.name);
      if (!column) return InternalError("column '{}' was not read", node.name);
      for (const int field : node.fields) {
        if (column->type_id() != arrow::Type::STRUCT) return InternalError("column '{}' is no struct", node.name);
        // NULL where the struct is.
        column = DELENDA_TRY(parquet::ToResult(static_cast<const arrow::StructArray&>(*column).GetFlattenedField(field),
                                               parquet::StatusSource::kCompute));
      }
      return column;
    }
    case ValueNode::Kind::kCall: break;
  }
  ArrayRef left = DELENDA_TRY(EvaluateValue(*node.arguments[0], batch));
  ArrayRef right = DELENDA_TRY(EvaluateValue(*node.arguments[1], batch));
  const auto call = [&](const char* function, const arrow::compute::FunctionOptions* options = nullptr) {
    return ComputedArray(arrow::compute::CallFunction(function, {left, right}, options), rows);
  };
  if (node.name == "||") {
    left = DELENDA_TRY(CastTo(left, arrow::utf8()));
    right = DELENDA_TRY(CastTo(right, arrow::utf8()));
    const auto separator = std::make_shared<arrow::StringScalar>("");
    const arrow::compute::JoinOptions options(arrow::compute::JoinOptions::EMIT_NULL);
    return ComputedArray(
        arrow::compute::CallFunction("binary_join_element_wise", {left, right, arrow::Datum(separator)}, &options),
        rows);
  }
  if (node.name == "/") {
    left = DELENDA_TRY(CastTo(left, arrow::float64()));
    right = DELENDA_TRY(CastTo(right, arrow::float64()));
    return call("divide");
  }
  return call(node.name == "+" ? "add_checked" : node.name == "-" ? "subtract_checked" : "multiply_checked");
}

}  // namespace

Result<ValueExpression> ValueExpression::Parse(std::string_view text, const Schema& schema, const Field& target) {
  if (text.size() > kMaxValueBytes) return InvalidArgument("a value's text is longer than {} bytes", kMaxValueBytes);
  ValueExpression expression;
  expression.text_ = text;
  expression.target_ = target;
  expression.target_type_ = DELENDA_TRY(read::ToArrowType(target.type));
  ValueParser parser(text, schema, target);
  expression.root_ = DELENDA_TRY(WithContext(parser.Parse(), "column", target.name));
  expression.columns_ = parser.TakeColumns();
  return expression;
}

Result<ArrayRef> ValueExpression::Evaluate(const arrow::RecordBatch& batch) const {
  static const arrow::Status initialised = arrow::compute::Initialize();
  DELENDA_TRY(parquet::ToResult(initialised, parquet::StatusSource::kCompute));
  const auto evaluate = [&]() -> Result<ArrayRef> {
    return CastTo(DELENDA_TRY(EvaluateValue(*root_, batch)), target_type_);
  };
  auto result = evaluate();
  if (!result && result.error().kind() == ErrorKind::kInvalidArgument)
    return InvalidArgument("the value '{}' for column '{}' can't be computed: {}", text_, target_.name,
                           result.error().message());
  return result;
}

}  // namespace delenda::ops
