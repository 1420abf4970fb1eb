#include "delenda/ops/merge_clauses.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "delenda/model/expression_lexer.h"
#include "delenda/read/arrow_type.h"

namespace delenda::ops {
namespace {

constexpr std::string_view kSource = "source";

bool IsSourceName(std::string_view name) {
  return std::ranges::equal(name, kSource,
                            [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

void CollectSourceNames(std::string_view text, std::vector<std::string>& names) {
  FilterLexer lexer(text, FilterLexer::Signs::kArithmetic);
  for (auto token = lexer.Next(); token && token->kind != FilterToken::Kind::kEnd; token = lexer.Next()) {
    if (token->kind != FilterToken::Kind::kName || token->text.size() <= kSource.size() + 1) continue;
    if (token->text[kSource.size()] != '.' || !IsSourceName(std::string_view(token->text).substr(0, kSource.size())))
      continue;
    names.push_back(token->text.substr(kSource.size() + 1));
  }
}

// Ids of one schema, in the order of a walk from the top down.
class IdGiver {
 public:
  explicit IdGiver(int32_t next) : next_(next) {}

  Field Renumbered(Field field) {
    field.id = next_++;
    std::vector<Field> children;
    for (const Field& child : field.type.fields()) children.push_back(Renumbered(child));
    switch (field.type.kind()) {
      case TypeKind::kStruct: field.type = Type::Struct(std::move(children)); break;
      case TypeKind::kList: field.type = Type::List(std::move(children[0])); break;
      case TypeKind::kMap: field.type = Type::Map(std::move(children[0]), std::move(children[1])); break;
      default: break;
    }
    return field;
  }

 private:
  int32_t next_;
};

int32_t LastId(const std::vector<Field>& fields) {
  int32_t last = 0;
  for (const Field& field : fields) last = std::max({last, field.id, LastId(field.type.fields())});
  return last;
}

Result<std::shared_ptr<arrow::Schema>> ArrowSchemaOf(const Schema& schema) {
  arrow::FieldVector fields;
  for (const Field& field : schema.fields()) fields.push_back(DELENDA_TRY(read::ToArrowField(field)));
  return arrow::schema(std::move(fields));
}

}  // namespace

std::vector<std::string> MergeClauses::SourceColumns(const MergeOptions& options) {
  std::vector<std::string> names;
  CollectSourceNames(options.matched_delete, names);
  CollectSourceNames(options.matched_update_when, names);
  for (const auto& [column, value] : options.matched_update) CollectSourceNames(value, names);
  if (options.not_matched_insert) CollectSourceNames(*options.not_matched_insert, names);
  return names;
}

Result<MergeClauses> MergeClauses::Make(const MergeOptions& options, const std::vector<std::string>& key,
                                        const Schema& table, const Schema& source) {
  MergeClauses clauses;
  clauses.updates_ = options.matched_update_all || !options.matched_update.empty();
  clauses.updates_all_ = options.matched_update_all;
  if (!options.matched_update_when.empty() && !clauses.updates_)
    return InvalidArgument("there is a condition for updates of matched rows, but no column to set");
  if (!clauses.updates_ && options.matched_delete.empty() && !options.not_matched_insert) {
    return InvalidArgument(
        "a merge needs something to do: delete or update rows that match, or insert those that do not");
  }
  clauses.table_columns_ = table.fields().size();
  std::vector<Field> fields;
  for (size_t i = 0; i < table.fields().size(); ++i) {
    if (IsSourceName(table.fields()[i].name)) continue;
    fields.push_back(table.fields()[i]);
    clauses.seen_columns_.push_back(static_cast<int>(i));
  }
  Field brought{.id = 0, .name = std::string(kSource), .type = Type::Struct(source.fields())};
  fields.push_back(IdGiver(LastId(table.fields()) + 1).Renumbered(std::move(brought)));
  const Schema alone = DELENDA_TRY(Schema::Make(0, {fields.back()}));
  const Schema seen = DELENDA_TRY(Schema::Make(0, std::move(fields)));
  clauses.seen_ = DELENDA_TRY(ArrowSchemaOf(seen));
  clauses.seen_alone_ = DELENDA_TRY(ArrowSchemaOf(alone));

  const auto condition = [](const std::string& text, const Schema& schema,
                            std::string_view clause) -> Result<RowCondition> {
    return WithContext(RowCondition::Make(text, schema), "clause", clause);
  };
  if (!options.matched_delete.empty())
    clauses.matched_delete_ = DELENDA_TRY(condition(options.matched_delete, seen, "matched delete"));
  if (!options.matched_update_when.empty())
    clauses.matched_update_when_ = DELENDA_TRY(condition(options.matched_update_when, seen, "matched update"));
  if (options.not_matched_insert)
    clauses.not_matched_insert_ = DELENDA_TRY(condition(*options.not_matched_insert, alone, "not matched insert"));
  clauses.assignments_ = DELENDA_TRY(ParseAssignments(options.matched_update, table, seen));
  for (const Assignment& assignment : clauses.assignments_) {
    const std::string& name = table.fields()[assignment.column].name;
    // Two rows could get one key, behind the back of those who look for it.
    if (std::ranges::find(key, name) != key.end())
      return InvalidArgument("column '{}' is a key column of the merge: it can't be set", name);
  }
  return clauses;
}

std::shared_ptr<arrow::RecordBatch> MergeClauses::Seen(const arrow::RecordBatch& table,
                                                       const arrow::RecordBatch& source) const {
  arrow::ArrayVector columns;
  for (const int column : seen_columns_) columns.push_back(table.column(column));
  columns.push_back(SeenAlone(source)->column(0));
  return arrow::RecordBatch::Make(seen_, table.num_rows(), std::move(columns));
}

std::shared_ptr<arrow::RecordBatch> MergeClauses::SeenAlone(const arrow::RecordBatch& source) const {
  const auto brought =
      std::make_shared<arrow::StructArray>(seen_alone_->field(0)->type(), source.num_rows(), source.columns());
  return arrow::RecordBatch::Make(seen_alone_, source.num_rows(), {brought});
}

Result<MergeClauses::Decided> MergeClauses::Decide(const arrow::RecordBatch& table,
                                                   const arrow::RecordBatch& source) const {
  const auto seen = Seen(table, source);
  Decided decided{.deleted = read::Selection(seen->num_rows()), .updated = read::Selection(seen->num_rows(), updates_)};
  if (matched_delete_) decided.deleted = DELENDA_TRY(matched_delete_->Matches(*seen));
  if (matched_update_when_) decided.updated = DELENDA_TRY(matched_update_when_->Matches(*seen));
  read::Selection stays = decided.deleted;
  stays.Invert();
  decided.updated &= stays;
  return decided;
}

Result<std::shared_ptr<arrow::RecordBatch>> MergeClauses::Update(const arrow::RecordBatch& table,
                                                                 const arrow::RecordBatch& source) const {
  const arrow::RecordBatch& from = updates_all_ ? source : table;
  const auto columns = static_cast<std::ptrdiff_t>(table_columns_);
  arrow::ArrayVector values(from.columns().begin(), from.columns().begin() + columns);
  const auto seen = Seen(table, source);
  for (const Assignment& assignment : assignments_)
    values[assignment.column] = DELENDA_TRY(assignment.value.Evaluate(*seen));
  arrow::FieldVector fields(from.schema()->fields().begin(), from.schema()->fields().begin() + columns);
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), table.num_rows(), std::move(values));
}

Result<read::Selection> MergeClauses::Inserted(const arrow::RecordBatch& source) const {
  return not_matched_insert_->Matches(*SeenAlone(source));
}

}  // namespace delenda::ops
