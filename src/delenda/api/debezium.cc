#include "delenda/api/debezium.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delenda/api/column_text.h"
#include "delenda/formats/json/writer.h"
#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/version.h"

namespace delenda::api {
namespace {

constexpr size_t kEnvelopeBytes = size_t{64} << 10;  // handed over at a time
// Iceberg spec, "Reserved Field IDs": columns with higher ids are no columns of the table.
constexpr int32_t kHighestFieldId = 2147483447;
// The columns that tell of the change: the last ones of every stream of changes.
constexpr std::string_view kColumns[] = {"_change_type", "_change_ordinal", "_commit_snapshot_id", "_commit_timestamp"};

struct Member {
  int column = 0;
  std::string key;  // quoted, with the colon
};

std::string KeyText(std::string_view name) {
  std::string key;
  json::AppendQuoted(key, name);
  key += ": ";
  return key;
}

class Envelopes {
 public:
  static Result<Envelopes> Make(const arrow::Schema& schema) {
    Envelopes envelopes;
    envelopes.first_ = schema.num_fields() - static_cast<int>(std::size(kColumns));
    for (size_t i = 0; i < std::size(kColumns); ++i) {
      const int at = envelopes.first_ + static_cast<int>(i);
      if (envelopes.first_ < 0 || schema.field(at)->name() != kColumns[i])
        return InvalidArgument("Debezium's envelopes can be made of changes in Iceberg's dialect only");
    }
    for (int i = 0; i < envelopes.first_; ++i) {
      const arrow::Field& field = *schema.field(i);
      const bool of_table = parquet::FieldIdOf(field).value_or(0) <= kHighestFieldId;
      // _row_id → row_id
      auto& members = of_table ? envelopes.row_ : envelopes.source_;
      members.push_back(
          {i, KeyText(of_table ? std::string_view(field.name()) : std::string_view(field.name()).substr(1))});
    }
    return envelopes;
  }

  Result<void> Add(const arrow::Schema& schema, const arrow::RecordBatch& batch) {
    std::vector<std::unique_ptr<ColumnText>> columns;
    for (int i = 0; i < batch.num_columns(); ++i)
      columns.push_back(DELENDA_TRY(ColumnText::Make(*schema.field(i), *batch.column(i))));
    const auto& types = static_cast<const arrow::StringArray&>(*batch.column(first_));
    const auto& times = static_cast<const arrow::TimestampArray&>(*batch.column(first_ + 3));
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      std::string image = Object(row_, columns, row);
      const std::string_view type = types.GetView(row);
      if ((type == "UPDATE_AFTER") != has_before_)
        return ValidationFailed("an update needs both of its images, one after the other");
      if (type == "UPDATE_BEFORE") {
        before_ = std::move(image);
        has_before_ = true;
        continue;
      }
      const bool deletes = type == "DELETE";
      const char* op = deletes ? "d" : has_before_ ? "u" : "c";
      text_ += "{\"before\": ";
      text_ += deletes ? image : has_before_ ? before_ : "null";
      text_ += ", \"after\": ";
      text_ += deletes ? "null" : image;
      const int64_t milliseconds = times.Value(row) / 1000;
      text_ += fmt::format(", \"source\": {{\"version\": \"{}\", \"connector\": \"delenda\", \"ts_ms\": {}", Version(),
                           milliseconds);
      text_ += ", \"snapshot_id\": ";
      columns[static_cast<size_t>(first_) + 2]->AppendJson(text_, row);
      text_ += ", \"change_ordinal\": ";
      columns[static_cast<size_t>(first_) + 1]->AppendJson(text_, row);
      for (const Member& member : source_) {
        text_ += ", " + member.key;
        columns[static_cast<size_t>(member.column)]->AppendJson(text_, row);
      }
      text_ += fmt::format("}}, \"op\": \"{}\", \"ts_ms\": {}}}\n", op, milliseconds);
      has_before_ = false;
      ++count_;
    }
    return {};
  }

  Result<void> Flush(const TextSink& sink, bool all) {
    if (text_.empty() || (!all && text_.size() < kEnvelopeBytes)) return {};
    DELENDA_TRY(sink(text_));
    text_.clear();
    return {};
  }

  Result<void> Finish() const {
    if (has_before_) return ValidationFailed("an update lacks its image after");
    return {};
  }
  uint64_t count() const { return count_; }

 private:
  static std::string Object(const std::vector<Member>& members, const std::vector<std::unique_ptr<ColumnText>>& columns,
                            int64_t row) {
    std::string text = "{";
    for (const Member& member : members) {
      if (text.size() > 1) text += ", ";
      text += member.key;
      columns[static_cast<size_t>(member.column)]->AppendJson(text, row);
    }
    text += "}";
    return text;
  }

  int first_ = 0;  // of kColumns
  std::vector<Member> row_, source_;
  std::string text_;
  std::string before_;  // of an update whose other image comes next
  bool has_before_ = false;
  uint64_t count_ = 0;
};

}  // namespace

Result<uint64_t> WriteDebezium(RowStream::Impl& rows, const TextSink& sink) {
  const arrow::Schema& schema = *rows.schema();
  Envelopes envelopes = DELENDA_TRY(Envelopes::Make(schema));
  while (const auto batch = DELENDA_TRY(rows.Next())) {
    DELENDA_TRY(envelopes.Add(schema, *batch));
    DELENDA_TRY(envelopes.Flush(sink, false));
  }
  DELENDA_TRY(envelopes.Finish());
  DELENDA_TRY(envelopes.Flush(sink, true));
  return envelopes.count();
}

}  // namespace delenda::api
