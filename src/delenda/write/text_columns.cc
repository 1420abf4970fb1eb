#include "delenda/write/text_columns.h"

#include <arrow/array/array_binary.h>
#include <arrow/array/builder_base.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/builder.h>

#include <charconv>
#include <string_view>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/model/datum.h"
#include "delenda/write/datum_builder.h"

namespace delenda::write {
namespace {

using parquet::ToResult;
constexpr auto kOursToParse = parquet::StatusSource::kCompute;

// The plain case of numbers without the detour of a Datum. Anything odd is left to DatumFromText.
template <typename Builder, typename Value>
bool AppendPlain(arrow::ArrayBuilder& builder, std::string_view text) {
  Value value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool plain = !text.empty() && (text.back() >= '0' && text.back() <= '9');
  if (!plain || error != std::errc() || end != text.data() + text.size()) return false;
  static_cast<Builder&>(builder).UnsafeAppend(value);
  return true;
}

bool AppendQuickly(arrow::ArrayBuilder& builder, TypeKind kind, std::string_view text) {
  switch (kind) {
    case TypeKind::kInt: return AppendPlain<arrow::Int32Builder, int32_t>(builder, text);
    case TypeKind::kLong: return AppendPlain<arrow::Int64Builder, int64_t>(builder, text);
    case TypeKind::kDouble: return AppendPlain<arrow::DoubleBuilder, double>(builder, text);
    default: return false;
  }
}

}  // namespace

Result<std::shared_ptr<arrow::Array>> ParseTexts(const arrow::StringArray& texts, const Type& type,
                                                 const std::shared_ptr<arrow::DataType>& arrow_type) {
  std::unique_ptr<arrow::ArrayBuilder> builder;
  DELENDA_TRY(ToResult(arrow::MakeBuilder(arrow::default_memory_pool(), arrow_type, &builder), kOursToParse));
  DELENDA_TRY(ToResult(builder->Reserve(texts.length()), kOursToParse));
  for (int64_t i = 0; i < texts.length(); ++i) {
    if (texts.IsNull(i)) {
      DELENDA_TRY(ToResult(builder->AppendNull(), kOursToParse));
      continue;
    }
    const std::string_view text = texts.GetView(i);
    if (AppendQuickly(*builder, type.kind(), text)) continue;
    DELENDA_TRY(AppendDatum(*builder, type, DELENDA_TRY(DatumFromText(type, text))));
  }
  return ToResult(builder->Finish(), kOursToParse);
}

}  // namespace delenda::write
