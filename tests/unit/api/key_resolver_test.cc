// Callers who find the rows of keys themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "delenda/delta_writer.h"
#include "delenda/rows.h"

namespace delenda {
namespace {

using ::testing::HasSubstr;

// Answers as the library does, and looks at the questions.
class Listener final : public KeyPositionResolver {
 public:
  explicit Listener(std::function<void(const KeyQuery&)> listen) : listen_(std::move(listen)) {}
  Result<std::vector<KeyPositions>> Resolve(const KeyQuery& query) const override {
    listen_(query);
    return query.Scan();
  }

 private:
  std::function<void(const KeyQuery&)> listen_;
};

std::string LinesOf(RowStream& rows) {
  std::string text;
  EXPECT_TRUE(WriteRows(rows, {}, [&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  }));
  return text;
}

class CallersResolver : public ::testing::Test {
 protected:
  CallersResolver()
      : folder_((std::filesystem::path(::testing::TempDir()) / ("resolver-" + std::to_string(::getpid()))).string()) {}
  ~CallersResolver() override { std::filesystem::remove_all(folder_); }

  OpenOptions Options() const { return {.mappings = {{.from = "/warehouse/eq_v3", .to = folder_}}, .threads = 1}; }
  std::set<std::string> Rows() {
    auto table = Table::Open(folder_, Options());
    EXPECT_TRUE(table) << table.error().ToString();
    auto rows = table->Scan({});
    EXPECT_TRUE(rows) << rows.error().ToString();
    std::set<std::string> lines;
    std::istringstream text(LinesOf(*rows));
    for (std::string line; std::getline(text, line);) lines.insert(line);
    return lines;
  }

  std::string folder_;
};

// eq_v3: deletes by grp and id in partitions of two specs, and by id alone.
TEST_F(CallersResolver, IsAskedForTheKeysOfEachPartitionWithTheSequenceNumbersThatTheyReachBelow) {
  std::filesystem::copy(DELENDA_FIXTURES "/iceberg/eq_v3", folder_, std::filesystem::copy_options::recursive);
  const auto before = Rows();
  auto table = WritableTable::Open(folder_, Options());
  ASSERT_TRUE(table) << table.error().ToString();
  std::set<std::string> asked;
  const Listener resolver([&](const KeyQuery& query) {
    EXPECT_EQ(query.branch(), "main");
    EXPECT_TRUE(query.spec_id());
    auto keys = query.Keys();
    EXPECT_TRUE(keys) << keys.error().ToString();
    const std::string lines = LinesOf(*keys);
    EXPECT_EQ(static_cast<uint64_t>(std::ranges::count(lines, '\n')), query.size());
    EXPECT_THAT(lines, HasSubstr("\"_below\": "));
    asked.insert(query.partition());
  });
  const auto planned = table->Convert({.dry_run = true});
  ASSERT_TRUE(planned) << planned.error().ToString();
  const auto report = table->Convert({.resolver = &resolver});
  ASSERT_TRUE(report) << report.error().ToString();
  EXPECT_EQ(report->rows_converted, planned->rows_converted);
  EXPECT_EQ(report->delete_files_converted, planned->delete_files_converted);
  EXPECT_GT(asked.size(), 1U);
  for (const std::string& partition : asked) EXPECT_THAT(partition, HasSubstr("grp=")) << partition;
  EXPECT_EQ(Rows(), before);
  EXPECT_EQ(table->Convert({})->delete_files_converted, 0U);
}

}  // namespace
}  // namespace delenda
