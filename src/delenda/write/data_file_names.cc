#include "delenda/write/data_file_names.h"

#include <algorithm>

#include "delenda/base/uuid.h"
#include "delenda/io/location.h"

namespace delenda::write {
namespace {

// Folder names of local file systems have at most 255 bytes, some object stores' gateways less.
constexpr size_t kLongestEscaped = 100;

std::string FormEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '-' || c == '*' || c == '_';
    if (escaped.size() >= kLongestEscaped) break;
    if (plain) {
      escaped.push_back(c);
    } else if (c == ' ') {
      escaped.push_back('+');
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

}  // namespace

std::string PartitionPath(const BoundSpec& spec, const PartitionTuple& tuple) {
  std::string path;
  if (spec.spec.IsUnpartitioned()) return path;
  const size_t count = std::min(spec.spec.fields.size(), tuple.values.size());
  for (size_t i = 0; i < count; ++i) {
    const PartitionField& field = spec.spec.fields[i];
    if (!path.empty()) path += '/';
    path += FormEscaped(field.name);
    path += '=';
    path += FormEscaped(PartitionValueText(field.transform, spec.result_types[i], tuple.values[i]));
  }
  return path;
}

DataFileNames::DataFileNames(std::string_view table_location, const WriteProperties& properties)
    : folder_(properties.data_path.empty() ? io::Join(table_location, "data") : properties.data_path),
      uuid_(RandomUuid()) {}

std::string DataFileNames::Next(std::string_view partition_path) {
  const uint32_t number = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::string folder = partition_path.empty() ? folder_ : io::Join(folder_, partition_path);
  return io::Join(folder, fmt::format("00000-{}-{:05}.parquet", uuid_, number));
}

}  // namespace delenda::write
