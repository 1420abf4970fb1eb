// Where data files lie and how they are called.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "delenda/model/partition.h"
#include "delenda/write/write_properties.h"

namespace delenda::write {

// "region=eu/ts_day=2024-02-29": the folder of a partition as the reference implementation names it, escaped as an HTML
// form is (Java's URLEncoder): "a b/c" → "a+b%2Fc". Values that file systems would refuse as too long are cut: readers
// never look at the name. Empty for an unpartitioned spec.
std::string PartitionPath(const BoundSpec& spec, const PartitionTuple& tuple);

// The names of one operation's files: "{data path}/{partition path}/00000-UUID-00001.parquet". Thread-safe.
class DataFileNames {
 public:
  DataFileNames(std::string_view table_location, const WriteProperties& properties);
  std::string Next(std::string_view partition_path);

 private:
  std::string folder_;
  std::string uuid_;
  std::atomic<uint32_t> count_{0};
};

}  // namespace delenda::write
