#include "delenda/ops/keyed_source.h"

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/ops/source_files.h"
#include "delenda/read/arrow_type.h"
#include "delenda/read/row_key.h"
#include "delenda/read/row_match.h"
#include "delenda/read/row_spill.h"
#include "delenda/read/selection.h"

namespace delenda::ops {
namespace {

using BatchRef = std::shared_ptr<arrow::RecordBatch>;

constexpr uint64_t kLeastSourceBudget = 64 * 1024;
constexpr uint64_t kLeastSourceBlock = 4096;
// What a key takes beside its row, about: its slot, its place among the rows, and its value for pruning.
constexpr uint64_t kBytesOfKey = 80;
constexpr uint64_t kMostParts = 16;  // at a time
constexpr int kDeepestCut = 6;

}  // namespace

Result<std::vector<std::string>> KeyColumns(const Schema& table, const std::vector<std::string>& named) {
  if (!named.empty()) return named;
  std::vector<std::string> columns;
  for (const int32_t id : table.identifier_ids()) {
    const auto field = std::ranges::find(table.fields(), id, &Field::id);
    if (field == table.fields().end())
      return InvalidArgument("the table's identifier field {} is nested: name the columns that are the key", id);
    columns.push_back(field->name);
  }
  if (columns.empty()) {
    return InvalidArgument(
        "no key column is named, and the table has no identifier fields: name the columns by which rows are told "
        "apart");
  }
  return columns;
}

struct KeyedSource::State {
  KeyedSourceOptions options;
  std::optional<SourceFiles> files;  // until they are read
  std::vector<Field> table_fields;
  Schema schema;
  std::vector<int> key_columns;  // of schema
  CancelToken cancel;
  read::SpillContext spill;
  uint64_t rows = 0;
  std::optional<read::RowBuffer> all;       // until there are parts
  std::deque<read::RowBuffer> parts;        // if there are several
  std::shared_ptr<const KeyedRows> single;  // else

  uint64_t part_bytes() const { return options.rows.memory_budget / 2; }
  // Its keys and rows take no more than a part may.
  bool FitsInPart(const read::RowBuffer& part) const {
    return part.bytes() + kBytesOfKey * static_cast<uint64_t>(part.rows()) <= part_bytes();
  }

  static Result<std::unique_ptr<State>> Make(const Schema& table, Schema schema, KeyedSourceOptions options);
  Result<void> Append(BatchRef batch);
  Result<void> ReadAll(const Hooks& hooks);
  Result<void> Cut(read::RowBuffer rows_read);
  Result<KeyedRows> Load(read::RowBuffer& part) const;
};

Result<std::unique_ptr<KeyedSource::State>> KeyedSource::State::Make(const Schema& table, Schema schema,
                                                                     KeyedSourceOptions options) {
  options.rows.memory_budget = std::max(options.rows.memory_budget, kLeastSourceBudget);
  auto state = std::make_unique<State>();
  state->table_fields = table.fields();
  state->schema = std::move(schema);
  // Floats as keys and the like are refused before rows are read.
  DELENDA_TRY(read::KeyTable::ForColumns(state->schema, options.rows.key));
  arrow::FieldVector fields;
  for (const Field& field : state->schema.fields()) fields.push_back(DELENDA_TRY(read::ToArrowField(field)));
  for (const std::string& name : options.rows.key) {
    const auto found = std::ranges::find(state->schema.fields(), name, &Field::name);
    state->key_columns.push_back(static_cast<int>(found - state->schema.fields().begin()));
  }
  state->spill = {.schema = arrow::schema(std::move(fields)),
                  .pool = arrow::default_memory_pool(),
                  .folder = read::SpillFolder(options.rows.temp_folder),
                  .block_bytes = std::max(options.rows.memory_budget / 128, kLeastSourceBlock)};
  state->options = std::move(options);
  state->all.emplace(state->spill, std::make_shared<read::SpillFile>(state->spill), state->part_bytes());
  return state;
}

Result<void> KeyedSource::State::Append(BatchRef batch) {
  if (cancel.cancelled()) return Cancelled("stopped while rows were read; nothing was changed");
  rows += static_cast<uint64_t>(batch->num_rows());
  return all->Append(std::move(batch));
}

Result<void> KeyedSource::State::ReadAll(const Hooks& hooks) {
  // Columns that the table lacks.
  const int first_looked_at = static_cast<int>(options.only_keys ? schema.fields().size() : table_fields.size());
  std::vector<bool> has_value(schema.fields().size() - static_cast<size_t>(first_looked_at));
  while (auto batch = DELENDA_TRY(files->Next())) {
    for (size_t i = 0; i < has_value.size(); ++i) {
      const auto& column = *batch->column(first_looked_at + static_cast<int>(i));
      has_value[i] = has_value[i] || column.null_count() != column.length();
    }
    DELENDA_TRY(Append(std::move(batch)));
    if (hooks.progress) hooks.progress({.stage = "read", .done = rows, .total = 0});
  }
  files.reset();
  for (size_t i = 0; i < has_value.size(); ++i) {
    // JSON lines do not say which columns they have: the name may be a wrong one.
    if (has_value[i] || rows == 0 || !hooks.log) continue;
    hooks.log(LogLevel::kWarning,
              fmt::format("column '{}', which an expression looks at, has no value in any row of the files",
                          schema.fields()[static_cast<size_t>(first_looked_at) + i].name));
  }
  return {};
}

// Parts that are too large are cut again. One that a single key fills is not made smaller by it, and needs not be: only
// its last row is held.
Result<void> KeyedSource::State::Cut(read::RowBuffer rows_read) {
  struct Large {
    read::RowBuffer rows;
    int depth = 0;
  };
  std::deque<Large> large;
  large.push_back({.rows = std::move(rows_read)});
  const read::MatchContext context{.spill = &spill, .columns = {}, .table_bytes = part_bytes(), .cancel = cancel};
  while (!large.empty()) {
    Large next = std::move(large.front());
    large.pop_front();
    const uint64_t needed = next.rows.bytes() + kBytesOfKey * static_cast<uint64_t>(next.rows.rows());
    const size_t count = std::clamp<uint64_t>(needed * 3 / 2 / part_bytes() + 1, 2, kMostParts);
    auto cut = DELENDA_TRY(read::CutByHash(context, key_columns, read::RowClass::kAll, count, next.depth,
                                           [&] { return next.rows.Pop(); }));
    cut.pop_back();  // rows of no key: none
    for (read::RowBuffer& part : cut) {
      if (part.rows() == 0) continue;
      if (FitsInPart(part) || next.depth == kDeepestCut) {
        parts.push_back(std::move(part));
      } else {
        large.push_back({.rows = std::move(part), .depth = next.depth + 1});
      }
    }
  }
  return {};
}

// Two passes: the first finds the last row of each key, the second takes these rows.
Result<KeyedRows> KeyedSource::State::Load(read::RowBuffer& part) const {
  auto keys = DELENDA_TRY(read::KeyTable::ForColumns(schema, options.rows.key));
  KeyedRows loaded{.keys = std::move(keys), .batches = {}, .row_of = {}};
  std::vector<uint64_t> last_of;  // by key number, counted over the part
  uint64_t row_number = 0;
  const auto add = [&](const BatchRef& batch) -> Result<void> {
    if (cancel.cancelled()) return Cancelled("stopped at the caller's request");
    const auto columns = DELENDA_TRY(loaded.keys.ColumnsOf(schema, *batch));
    const auto numbers = DELENDA_TRY(loaded.keys.Add(columns, batch->num_rows()));
    const auto known = last_of.size();
    last_of.resize(static_cast<size_t>(loaded.keys.size()));
    std::vector<bool> seen(options.is_unique ? last_of.size() - known : 0);
    for (size_t row = 0; row < numbers.size(); ++row) {
      const auto number = static_cast<size_t>(numbers[row]);
      if (options.is_unique && (number < known || seen[number - known])) {
        return InvalidArgument("the key {} is there more than once in the rows that were given",
                               read::KeyText(*batch, key_columns, static_cast<int64_t>(row)));
      }
      if (options.is_unique) seen[number - known] = true;
      last_of[number] = row_number++;
    }
    return {};
  };
  DELENDA_TRY(part.ForEach(add));
  if (options.only_keys) return loaded;

  loaded.row_of.resize(last_of.size());
  const bool has_repeated = row_number != last_of.size();
  row_number = 0;
  const auto take = [&](const BatchRef& batch) -> Result<void> {
    if (cancel.cancelled()) return Cancelled("stopped at the caller's request");
    const int64_t count = batch->num_rows();
    const auto at = static_cast<uint32_t>(loaded.batches.size());
    if (!has_repeated) {
      // Keys were numbered in the order of rows.
      for (int64_t row = 0; row < count; ++row)
        loaded.row_of[row_number++] = {.batch = at, .row = static_cast<uint32_t>(row)};
      loaded.batches.push_back(batch);
      return {};
    }
    const auto columns = DELENDA_TRY(loaded.keys.ColumnsOf(schema, *batch));
    const auto numbers = DELENDA_TRY(loaded.keys.Find(columns, count));
    uint32_t kept_rows = 0;
    const auto kept = read::Selection::Where(count, [&](int64_t row) {
      const auto number = static_cast<size_t>(numbers[static_cast<size_t>(row)]);
      if (last_of[number] != row_number++) return false;
      loaded.row_of[number] = {.batch = at, .row = kept_rows++};
      return true;
    });
    if (auto left = DELENDA_TRY(read::KeepRows(batch, kept, spill.pool))) loaded.batches.push_back(std::move(left));
    return {};
  };
  DELENDA_TRY(part.ForEach(take));
  return loaded;
}

KeyedSource::KeyedSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
KeyedSource::~KeyedSource() = default;
KeyedSource::KeyedSource(KeyedSource&&) noexcept = default;
KeyedSource& KeyedSource::operator=(KeyedSource&&) noexcept = default;

Result<KeyedSource> KeyedSource::Open(io::FileIO& io, const Schema& table, KeyedSourceOptions options) {
  auto opened = DELENDA_TRY(SourceFiles::Open(io, table, options));
  options.rows.key = opened.key();
  auto state = DELENDA_TRY(State::Make(table, opened.schema(), std::move(options)));
  state->files = std::move(opened);
  return KeyedSource(std::move(state));
}

Result<KeyedSource> KeyedSource::ForBatches(const Schema& table, KeyedSourceOptions options, std::vector<Field> more,
                                            const Hooks& hooks) {
  auto schema = DELENDA_TRY(SchemaOfKeyedRows(table, options.rows.key, std::move(more)));
  auto state = DELENDA_TRY(State::Make(table, std::move(schema), std::move(options)));
  state->cancel = hooks.cancel;
  return KeyedSource(std::move(state));
}

Result<void> KeyedSource::Add(std::shared_ptr<arrow::RecordBatch> batch) { return state_->Append(std::move(batch)); }

Result<void> KeyedSource::Read(const Hooks& hooks) {
  state_->cancel = hooks.cancel;
  DELENDA_TRY(state_->ReadAll(hooks));
  return Close();
}

Result<void> KeyedSource::Close() {
  read::RowBuffer rows_read = *std::exchange(state_->all, std::nullopt);
  if (!rows_read.spilled() && state_->FitsInPart(rows_read)) {
    state_->single = std::make_shared<const KeyedRows>(DELENDA_TRY(state_->Load(rows_read)));
  } else {
    DELENDA_TRY(state_->Cut(std::move(rows_read)));
  }
  return {};
}

const Schema& KeyedSource::schema() const { return state_->schema; }
const std::vector<std::string>& KeyedSource::key() const { return state_->options.rows.key; }
bool KeyedSource::Fits(const Schema& table) const { return table.fields() == state_->table_fields; }
size_t KeyedSource::parts() const { return state_->single ? 1 : state_->parts.size(); }
uint64_t KeyedSource::rows() const { return state_->rows; }
uint64_t KeyedSource::spilled_bytes() const { return state_->spill.spilled_bytes; }

Result<std::shared_ptr<const KeyedRows>> KeyedSource::Part(size_t part) {
  if (state_->single) return state_->single;
  return std::make_shared<const KeyedRows>(DELENDA_TRY(state_->Load(state_->parts[part])));
}

std::string KeyText(const KeyedSource& source, const arrow::RecordBatch& batch, int64_t row) {
  std::vector<int> columns;
  for (const std::string& name : source.key()) columns.push_back(batch.schema()->GetFieldIndex(name));
  return read::KeyText(batch, columns, row);
}

}  // namespace delenda::ops
