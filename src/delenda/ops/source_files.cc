#include "delenda/ops/source_files.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <utility>

#include "delenda/write/input_stream.h"
#include "delenda/write/json_rows.h"
#include "delenda/write/schema_from_arrow.h"

namespace delenda::ops {
namespace {

using BatchRef = std::shared_ptr<arrow::RecordBatch>;

int32_t HighestId(const std::vector<Field>& fields) {
  int32_t highest = 0;
  for (const Field& field : fields) highest = std::max({highest, field.id, HighestId(field.type.fields())});
  return highest;
}

bool SameButForCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

// As columns of files match those of tables: the exact name, else the only one that is equal but for case.
std::shared_ptr<arrow::Field> FindField(const arrow::Schema& schema, std::string_view name) {
  std::shared_ptr<arrow::Field> found;
  int count = 0;
  for (const auto& field : schema.fields()) {
    if (field->name() == name) return field;
    if (!SameButForCase(field->name(), name)) continue;
    found = field;
    ++count;
  }
  return count == 1 ? found : nullptr;
}

// Sets the names as the table has them.
Result<std::vector<Field>> FindKey(const Schema& table, std::vector<std::string>& key, std::string_view hint) {
  std::vector<Field> fields;
  for (std::string& name : key) {
    const auto path = table.FindByName(name);
    if (path.empty()) return NotFound("the table has no column '{}' to be the key{}", name, hint);
    if (path.size() != 1) return InvalidArgument("key column '{}' is nested: keys are columns of the table", name);
    name = path[0]->name;
    fields.push_back(*path[0]);
  }
  return fields;
}

}  // namespace

Result<Schema> SchemaOfKeyedRows(const Schema& table, std::vector<std::string>& key, std::vector<Field> more) {
  if (key.empty()) return InvalidArgument("no key column is named");
  const auto key_fields = DELENDA_TRY(FindKey(table, key, ""));
  std::vector<Field> fields = table.fields();
  for (Field& field : fields) {
    if (std::ranges::find(key_fields, field.id, &Field::id) == key_fields.end()) field.required = false;
  }
  int32_t id = HighestId(fields);
  for (Field& field : more) {
    field.id = ++id;
    field.required = false;
    fields.push_back(std::move(field));
  }
  return Schema::Make(table.id(), std::move(fields));
}

Result<void> CheckHasKey(const arrow::Schema& rows, const std::vector<std::string>& key) {
  for (const std::string& name : key) {
    // It would be NULL in every row, which is a key too.
    if (FindField(rows, name) == nullptr) return InvalidArgument("there is no column '{}', which is the key", name);
  }
  return {};
}

bool SourceFiles::IsJson(const std::string& path) const {
  return (options_.rows.format ? options_.rows.format : write::RowFormatFromPath(path)) == write::RowFormat::kJsonLines;
}

Result<std::shared_ptr<write::RowSource>> SourceFiles::Peek(const std::string& path) {
  if (path == "-" && peeked_input_) return peeked_input_;
  std::shared_ptr<write::RowSource> source =
      DELENDA_TRY(write::RowSource::Open(*io_, path, {.format = options_.rows.format}));
  if (path == "-") peeked_input_ = source;
  return source;
}

Result<void> SourceFiles::TakeKeyFromFile() {
  const std::string& path = options_.rows.files.front();
  if (IsJson(path)) {
    if (path == "-") return InvalidArgument("JSON lines from standard input need their key columns named");
    write::LineReader lines(DELENDA_TRY(write::OpenBytes(*io_, path)));
    options_.rows.key = DELENDA_TRY(WithContext(write::FirstMembers(lines), "file", path));
  } else {
    const auto source = DELENDA_TRY(Peek(path));
    for (const auto& field : source->schema()->fields()) options_.rows.key.push_back(field->name());
  }
  if (options_.rows.key.empty()) return InvalidArgument("{} has no columns to be the key", path);
  return {};
}

// Only the files know the types of columns that the table lacks. JSON lines have none, and there they are texts.
Result<std::vector<Field>> SourceFiles::FindLookedAt(const Schema& table) {
  std::vector<Field> fields;
  std::vector<std::string> missing;
  for (const std::string& name : options_.looked_at) {
    if (table.FindByName(name).empty() && std::ranges::find(missing, name) == missing.end()) missing.push_back(name);
  }
  for (const std::string& name : missing) {
    std::optional<Field> found;
    bool is_text = false;
    for (const std::string& path : options_.rows.files) {
      if (IsJson(path)) {
        is_text = true;
        continue;
      }
      const auto source = DELENDA_TRY(Peek(path));
      const auto field = FindField(*source->schema(), name);
      if (field == nullptr) continue;
      const auto schema = DELENDA_TRY(WithContext(write::SchemaFromArrow(*arrow::schema({field})), "file", path));
      found = schema.fields().front();
      break;
    }
    if (!found && is_text) found = Field{.name = name, .type = TypeKind::kString};
    if (!found) continue;  // binding the expression names those there are
    if (found->type.is_nested())
      return NotSupported("column '{}' is nested and not one of the table: expressions can't look at it", name);
    fields.push_back(*std::move(found));
  }
  return fields;
}

Result<SourceFiles> SourceFiles::Open(io::FileIO& io, const Schema& table, KeyedSourceOptions options) {
  if (options.rows.files.empty()) return InvalidArgument("there is no file with rows");
  SourceFiles files(io, std::move(options));
  KeyedSourceOptions& wanted = files.options_;
  const bool names_key = !wanted.rows.key.empty();
  if (!names_key) {
    if (!wanted.only_keys) return InvalidArgument("no key column is named");
    DELENDA_TRY(files.TakeKeyFromFile());
  }
  if (wanted.only_keys) {
    auto fields = DELENDA_TRY(
        FindKey(table, wanted.rows.key, names_key ? "" : ": name the columns of the file that are the key"));
    if (names_key) wanted.rows.ignore_unknown_columns = true;
    files.schema_ = DELENDA_TRY(Schema::Make(table.id(), std::move(fields)));
  } else {
    // The key first: an error of it is the clearer one.
    DELENDA_TRY(FindKey(table, wanted.rows.key, ""));
    files.schema_ = DELENDA_TRY(SchemaOfKeyedRows(table, wanted.rows.key, DELENDA_TRY(files.FindLookedAt(table))));
  }
  return files;
}

Result<void> SourceFiles::OpenNext() {
  const std::string& path = options_.rows.files[next_file_++];
  if (path == "-" && peeked_input_) {
    source_ = peeked_input_;
  } else {
    source_ = DELENDA_TRY(write::RowSource::Open(*io_, path,
                                                 {.format = options_.rows.format,
                                                  .table = schema_,
                                                  .ignore_unknown_columns = options_.rows.ignore_unknown_columns}));
  }
  DELENDA_TRY(CheckHasKey(*source_->schema(), options_.rows.key));
  conformer_ = DELENDA_TRY(write::RowConformer::Make(
      *source_->schema(), schema_,
      {.ignore_unknown_columns = options_.rows.ignore_unknown_columns, .parse_text = source_->is_text()}));
  return {};
}

Result<BatchRef> SourceFiles::NextOfFile() {
  if (!source_) DELENDA_TRY(OpenNext());
  const auto batch = DELENDA_TRY(source_->Next());
  if (batch == nullptr) return BatchRef();
  return conformer_->Conform(*batch);
}

Result<BatchRef> SourceFiles::Next() {
  while (source_ || next_file_ < options_.rows.files.size()) {
    const std::string& path = options_.rows.files[source_ ? next_file_ - 1 : next_file_];
    auto batch = DELENDA_TRY(WithContext(NextOfFile(), "file", path));
    if (batch) return batch;
    source_.reset();
  }
  return BatchRef();
}

}  // namespace delenda::ops
