// Table properties that say how data files are written.
#include "delenda/write/write_properties.h"

#include <gtest/gtest.h>

#include "unit/write/write_fixture.h"

namespace delenda::write {
namespace {

using Properties = std::map<std::string, std::string>;

Schema Columns() {
  return testing::SchemaOf(
      {{.id = 1, .name = "id", .type = TypeKind::kLong},
       {.id = 2, .name = "flag", .type = TypeKind::kBoolean},
       {.id = 3, .name = "s", .type = Type::Struct({{.id = 4, .name = "t", .type = TypeKind::kString}})}});
}

TEST(WriteProperties, DefaultsAreIcebergs) {
  const auto properties = WriteProperties::Parse({}, Columns());
  ASSERT_TRUE(properties);
  EXPECT_EQ(properties->parquet.codec, parquet::Codec::kZstd);
  EXPECT_FALSE(properties->parquet.codec_level);
  EXPECT_EQ(properties->parquet.row_group_bytes, 134'217'728);
  EXPECT_EQ(properties->parquet.page_bytes, 1'048'576);
  EXPECT_EQ(properties->parquet.page_rows, 20'000);
  EXPECT_EQ(properties->parquet.dictionary_bytes, 2'097'152);
  EXPECT_EQ(properties->target_file_bytes, 536'870'912);
  EXPECT_TRUE(properties->data_path.empty());
  EXPECT_EQ(properties->metrics.size(), 3U);
  EXPECT_EQ(properties->metrics.at(4), (MetricsMode{.kind = MetricsMode::Kind::kTruncate, .length = 16}));
}

TEST(WriteProperties, AreTakenFromTheTable) {
  const auto properties = WriteProperties::Parse({{"write.format.default", "PARQUET"},
                                                  {"write.parquet.compression-codec", "Snappy"},
                                                  {"write.parquet.compression-level", "7"},
                                                  {"write.parquet.row-group-size-bytes", "1000"},
                                                  {"write.parquet.row-group-limit", "10"},
                                                  {"write.parquet.page-size-bytes", "100"},
                                                  {"write.parquet.page-row-limit", "5"},
                                                  {"write.parquet.page-version", "v2"},
                                                  {"write.parquet.dict-size-bytes", "50"},
                                                  {"write.target-file-size-bytes", "2000"},
                                                  {"write.data.path", "/elsewhere///"},
                                                  {"write.parquet.bloom-filter-enabled.column.id", "true"},
                                                  {"write.parquet.bloom-filter-enabled.column.flag", "false"},
                                                  {"write.parquet.bloom-filter-enabled.column.gone", "true"},
                                                  {"write.parquet.bloom-filter-enabled.column.s.t", "TRUE"},
                                                  {"write.parquet.bloom-filter-fpp.column.s.t", "0.05"},
                                                  {"write.parquet.bloom-filter-ndv.column.s.t", "7"},
                                                  {"write.merge.mode", "merge-on-read"}},
                                                 Columns());
  ASSERT_TRUE(properties) << properties.error().ToString();
  EXPECT_EQ(properties->parquet.codec, parquet::Codec::kSnappy);
  EXPECT_EQ(properties->parquet.codec_level, 7);
  EXPECT_EQ(properties->parquet.row_group_bytes, 1000);
  EXPECT_EQ(properties->parquet.row_group_rows, 10);
  EXPECT_EQ(properties->parquet.page_bytes, 100);
  EXPECT_EQ(properties->parquet.page_rows, 5);
  EXPECT_TRUE(properties->parquet.version_2_pages);
  EXPECT_EQ(properties->parquet.dictionary_bytes, 50);
  EXPECT_EQ(properties->target_file_bytes, 2000);
  EXPECT_EQ(properties->data_path, "/elsewhere");
  ASSERT_EQ(properties->parquet.blooms.size(), 2U);
  EXPECT_EQ(properties->parquet.blooms[0].field_id, 1);
  EXPECT_EQ(properties->parquet.blooms[0].distinct, 10);
  EXPECT_EQ(properties->parquet.blooms[1].field_id, 4);
  EXPECT_EQ(properties->parquet.blooms[1].false_positives, 0.05);
  EXPECT_EQ(properties->parquet.blooms[1].distinct, 7);
}

TEST(WriteProperties, OnlyTheFirstHundredColumnsHaveMetricsUnlessSaid) {
  std::vector<Field> fields = {
      {.id = 1000, .name = "st", .type = Type::Struct({{.id = 1001, .name = "x", .type = TypeKind::kInt}})}};
  for (int32_t i = 1; i <= 100; ++i) fields.push_back({.id = i, .name = fmt::format("c{}", i), .type = TypeKind::kInt});
  const Schema schema = testing::SchemaOf(fields);
  const auto ids = [&](const Properties& properties) {
    const auto parsed = WriteProperties::Parse(properties, schema);
    EXPECT_TRUE(parsed);
    std::vector<int32_t> with;
    for (const auto& [id, mode] : parsed->metrics) with.push_back(id);
    return with;
  };
  // Columns of the top level come before those inside structs, wherever they stand.
  EXPECT_EQ(ids({}).size(), 100U);
  EXPECT_EQ(ids({}).back(), 100);
  EXPECT_EQ(ids({{"write.metadata.metrics.max-inferred-column-defaults", "3"}}), (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(ids({{"write.metadata.metrics.default", "full"}}).size(), 101U);
  EXPECT_EQ(ids({{"write.metadata.metrics.max-inferred-column-defaults", "1"},
                 {"write.metadata.metrics.column.st.x", "counts"}}),
            (std::vector<int32_t>{1, 1001}));
}

TEST(WriteProperties, OthersAreRefusedByName) {
  struct Case {
    const char* name;
    const char* value;
    ErrorKind kind;
  };
  const Case cases[] = {
      {"write.format.default", "orc", ErrorKind::kNotSupported},
      {"write.location-provider.impl", "com.example.X", ErrorKind::kNotSupported},
      {"write.parquet.bloom-filter-enabled.column.flag", "true", ErrorKind::kNotSupported},
      {"write.parquet.bloom-filter-enabled.column.s", "true", ErrorKind::kNotSupported},
      {"write.parquet.bloom-filter-enabled.column.id", "yes", ErrorKind::kInvalidArgument},
      {"write.parquet.compression-codec", "lzo", ErrorKind::kInvalidArgument},
      {"write.parquet.compression-level", "high", ErrorKind::kInvalidArgument},
      {"write.parquet.page-version", "v3", ErrorKind::kInvalidArgument},
      {"write.parquet.row-group-size-bytes", "0", ErrorKind::kInvalidArgument},
      {"write.target-file-size-bytes", "512MB", ErrorKind::kInvalidArgument},
      {"write.metadata.metrics.default", "truncate(0)", ErrorKind::kInvalidArgument},
      {"write.metadata.metrics.column.id", "some", ErrorKind::kInvalidArgument},
  };
  for (const Case& c : cases) {
    const auto properties = WriteProperties::Parse({{c.name, c.value}}, Columns());
    ASSERT_FALSE(properties) << c.name;
    EXPECT_EQ(properties.error().kind(), c.kind) << c.name;
    EXPECT_NE(properties.error().ToString().find(c.name), std::string::npos) << properties.error().ToString();
  }
}

}  // namespace
}  // namespace delenda::write
