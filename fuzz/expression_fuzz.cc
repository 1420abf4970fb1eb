// Filter text from anywhere: parsed, bound, written back, projected and evaluated. What binds must read back as itself.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "delenda/model/expression.h"
#include "delenda/model/partition.h"
#include "delenda/model/pruning.h"

namespace {

using delenda::Datum;
using delenda::Transform;
using delenda::Type;
using delenda::TypeKind;

const delenda::Schema& FuzzSchema() {
  static const delenda::Schema kSchema =
      delenda::Schema::Make(
          0, {{.id = 1, .name = "id", .type = TypeKind::kInt},
              {.id = 2, .name = "big", .type = TypeKind::kLong},
              {.id = 3, .name = "f", .type = TypeKind::kFloat},
              {.id = 4, .name = "d", .type = TypeKind::kDouble},
              {.id = 5, .name = "dec", .type = Type::Decimal(38, 10)},
              {.id = 6, .name = "s", .type = TypeKind::kString},
              {.id = 7, .name = "dt", .type = TypeKind::kDate},
              {.id = 8, .name = "ts", .type = TypeKind::kTimestamp},
              {.id = 9, .name = "ns", .type = TypeKind::kTimestampTzNs},
              {.id = 10, .name = "b", .type = TypeKind::kBinary},
              {.id = 11, .name = "flag", .type = TypeKind::kBoolean},
              {.id = 12, .name = "u", .type = TypeKind::kUuid},
              {.id = 13, .name = "t", .type = TypeKind::kTime},
              {.id = 14, .name = "a", .type = Type::Struct({{.id = 15, .name = "b", .type = TypeKind::kString}})},
              {.id = 16, .name = "x y", .type = Type::Fixed(2)}})
          .value();
  return kSchema;
}

const delenda::BoundSpec& FuzzSpec() {
  static const delenda::BoundSpec kSpec = [] {
    delenda::PartitionSpec spec;
    const auto add = [&](int32_t source, std::string_view transform) {
      const auto id = static_cast<int32_t>(1000 + spec.fields.size());
      spec.fields.push_back(
          {.source_id = source, .field_id = id, .name = "p", .transform = Transform::Parse(transform).value()});
    };
    add(1, "truncate[10]");
    add(2, "bucket[7]");
    add(4, "identity");
    add(5, "truncate[3]");
    add(6, "truncate[2]");
    add(7, "month");
    add(8, "hour");
    add(9, "day");
    add(10, "truncate[1]");
    return delenda::BoundSpec::Make(spec, FuzzSchema());
  }();
  return kSpec;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto expr = delenda::BindText(text, FuzzSchema());
  if (!expr) return 0;
  const std::string written = (*expr)->ToString();
  const auto again = delenda::BindText(written, FuzzSchema());
  // A text that grew beyond the limits, by quotes and parentheses, may be refused; any other difference is a fault.
  if (again ? (*again)->ToString() != written : written.size() < 100'000) std::abort();

  const Datum null;
  const auto nothing = [&](const delenda::BoundColumn&) -> const Datum& { return null; };
  (void)delenda::EvaluateRow(**expr, nothing);
  (void)delenda::CouldMatch(**expr, [](const delenda::BoundColumn&) { return delenda::ColumnStats{.value_count = 3}; });
  const auto projected = delenda::ProjectInclusive(**expr, FuzzSpec());
  (void)projected->ToString();
  delenda::PartitionTuple tuple;
  const std::string bytes = written.substr(0, 2);
  tuple.values = {Datum(static_cast<int64_t>(size)), Datum(int64_t{3}), Datum(0.5),
                  Datum(delenda::Int128{3}),         Datum(bytes),      Datum(int64_t{-1}),
                  Datum(static_cast<int64_t>(size)), Datum(int64_t{0}), Datum(written.substr(0, 1))};
  (void)delenda::ResidualFor(**expr, FuzzSpec(), tuple)->ToString();
  return 0;
}
