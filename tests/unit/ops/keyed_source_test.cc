// Rows of files by key: which row counts, what memory they take, what is refused.
#include "delenda/ops/keyed_source.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"

namespace delenda::ops {
namespace {

using ::testing::HasSubstr;

const Schema kTable = *Schema::Make(
    0, {{.id = 1, .name = "id", .type = TypeKind::kLong},
        {.id = 2, .name = "region", .type = TypeKind::kString},
        {.id = 3, .name = "v", .type = TypeKind::kString, .required = true},
        {.id = 4, .name = "d", .type = TypeKind::kDouble},
        {.id = 5, .name = "st", .type = Type::Struct({{.id = 6, .name = "x", .type = TypeKind::kLong}})}});

class KeyedSourceTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, const std::string& text) {
    EXPECT_TRUE(io::WriteWholeFile(*files_, name, AsBytes(text)));
    return name;
  }
  Result<KeyedSource> Read(KeyedSourceOptions options, const Hooks& hooks = {}) {
    auto source = DELENDA_TRY(KeyedSource::Open(*files_, kTable, std::move(options)));
    DELENDA_TRY(source.Read(hooks));
    return source;
  }
  // The text columns id and v of all rows, by part.
  static std::map<std::string, std::string> Rows(KeyedSource& source) {
    std::map<std::string, std::string> rows;
    for (size_t part = 0; part < source.parts(); ++part) {
      const auto loaded = source.Part(part);
      EXPECT_TRUE(loaded) << loaded.error().ToString();
      EXPECT_EQ((*loaded)->row_of.size(), static_cast<size_t>((*loaded)->keys.size()));
      for (const auto& ref : (*loaded)->row_of) {
        const auto& batch = *(*loaded)->batches[ref.batch];
        const auto text = [&](const char* name) {
          return batch.GetColumnByName(name)->GetScalar(ref.row).ValueOrDie()->ToString();
        };
        EXPECT_TRUE(rows.emplace(text("id"), text("v")).second) << text("id") << " is in two parts";
      }
    }
    return rows;
  }

  std::shared_ptr<io::FileIO> files_ = io::MakeMemoryFileIO();
};

TEST(KeyColumns, AreThoseThatAreNamedElseTheIdentifierFields) {
  std::vector<Field> fields = kTable.fields();
  for (Field& field : fields) field.required = true;
  const Schema identified = *Schema::Make(0, fields, {2, 1});
  EXPECT_THAT(*KeyColumns(identified, {"v"}), ::testing::ElementsAre("v"));
  EXPECT_THAT(*KeyColumns(identified, {}), ::testing::UnorderedElementsAre("id", "region"));
  const auto none = KeyColumns(kTable, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(none.error().message(), HasSubstr("no identifier fields"));
}

TEST_F(KeyedSourceTest, TheLastRowOfAKeyCountsInTheOrderOfFiles) {
  auto source =
      Read({.rows = {.files = {Put("/a.csv", "id,v\n1,a\n2,b\n,c\n"), Put("/b.jsonl", "{\"id\": 1, \"v\": \"d\"}\n"),
                               Put("/c.csv", "id,v\n,e\n3,f\n3,g\n")},
                     .key = {"id"}}});
  ASSERT_TRUE(source) << source.error().ToString();
  EXPECT_EQ(source->rows(), 7U);
  const std::map<std::string, std::string> expected = {{"1", "d"}, {"2", "b"}, {"null", "e"}, {"3", "g"}};
  for (int time = 0; time < 2; ++time) EXPECT_EQ(Rows(*source), expected);
}

TEST_F(KeyedSourceTest, ColumnsThatOnlyExpressionsLookAtComeFromTheFiles) {
  auto source =
      Read({.rows = {.files = {Put("/a.csv", "id,op\n1,d\n2,\n"), Put("/b.jsonl", "{\"id\": 3, \"op\": \"u\"}\n")},
                     .key = {"ID"}},
            .looked_at = {"op", "v", "lsn"}});
  ASSERT_TRUE(source) << source.error().ToString();
  // JSON lines do not say which columns they have: all that are looked at.
  std::vector<std::string> names;
  for (const Field& field : source->schema().fields()) names.push_back(field.name);
  EXPECT_THAT(names, ::testing::ElementsAre("id", "region", "v", "d", "st", "op", "lsn"));
  EXPECT_EQ(source->schema().FindByName("op")[0]->type.kind(), TypeKind::kString);
  EXPECT_THAT(source->key(), ::testing::ElementsAre("id"));
  EXPECT_TRUE(source->Fits(kTable));
  EXPECT_FALSE(source->Fits(*kTable.Select({"id", "v"})));
}

TEST_F(KeyedSourceTest, AColumnThatNoRowHasIsWarnedOf) {
  std::vector<std::string> warnings;
  Hooks hooks;
  hooks.log = [&](LogLevel level, std::string_view line) {
    if (level == LogLevel::kWarning) warnings.emplace_back(line);
  };
  auto source = Read({.rows = {.files = {Put("/b.jsonl", "{\"id\": 3, \"op\": \"u\"}\n{\"id\": 4}\n")}, .key = {"id"}},
                      .looked_at = {"op", "opp"}},
                     hooks);
  ASSERT_TRUE(source) << source.error().ToString();
  EXPECT_THAT(warnings, ::testing::ElementsAre(HasSubstr("'opp'")));
}

TEST_F(KeyedSourceTest, WhatIsWrongIsNamed) {
  const auto good = Put("/good.csv", "id,v\n1,a\n");
  struct Wrong {
    KeyedSourceOptions options;
    ErrorKind kind;
    const char* text;
  };
  const std::vector<Wrong> all = {
      {{.rows = {.files = {}, .key = {"id"}}}, ErrorKind::kInvalidArgument, "no file"},
      {{.rows = {.files = {good}, .key = {}}}, ErrorKind::kInvalidArgument, "no key column"},
      {{.rows = {.files = {good}, .key = {"nope"}}}, ErrorKind::kNotFound, "'nope'"},
      {{.rows = {.files = {good}, .key = {"st.x"}}}, ErrorKind::kInvalidArgument, "'st.x' is nested"},
      {{.rows = {.files = {Put("/st.jsonl", "{\"st\": {\"x\": 1}}")}, .key = {"st"}}},
       ErrorKind::kInvalidArgument,
       "st"},
      {{.rows = {.files = {Put("/d.csv", "d\n1\n")}, .key = {"d"}}}, ErrorKind::kInvalidArgument, "d"},
      {{.rows = {.files = {good, Put("/v.csv", "v\nx\n")}, .key = {"id"}}}, ErrorKind::kInvalidArgument, "/v.csv"},
      {{.rows = {.files = {Put("/u.csv", "id,colour\n1,red\n")}, .key = {"id"}}},
       ErrorKind::kInvalidArgument,
       "colour"},
      {{.rows = {.files = {Put("/t.csv", "id,v\n1,a\n2,b\n1,c\n")}, .key = {"id"}}, .is_unique = true},
       ErrorKind::kInvalidArgument,
       "(id = 1)"},
      {{.rows = {.files = {"/nothing.csv"}, .key = {"id"}}}, ErrorKind::kNotFound, "/nothing.csv"},
      {{.rows = {.files = {Put("/none.csv", "colour\nred\n")}}, .only_keys = true}, ErrorKind::kNotFound, "colour"},
  };
  for (const Wrong& wrong : all) {
    const auto source = Read(wrong.options);
    ASSERT_FALSE(source) << wrong.text;
    EXPECT_EQ(source.error().kind(), wrong.kind) << source.error().ToString();
    EXPECT_THAT(source.error().ToString(), HasSubstr(wrong.text));
  }
}

TEST_F(KeyedSourceTest, KeysAloneAreAllColumnsOfTheFileOrThoseThatAreNamed) {
  Put("/k.csv", "region,id\neu,1\nus,\neu,1\n");
  Put("/k.jsonl", R"({"region": "eu", "id": 1}
{"region": "us", "id": null}
{"region": "eu", "id": 1})");
  for (const char* file : {"/k.csv", "/k.jsonl"}) {
    auto both = Read({.rows = {.files = {file}}, .only_keys = true});
    ASSERT_TRUE(both) << both.error().ToString();
    EXPECT_THAT(both->key(), ::testing::ElementsAre("region", "id"));
    EXPECT_EQ((*both->Part(0))->keys.size(), 2);
    auto one = Read({.rows = {.files = {file}, .key = {"region"}}, .only_keys = true});
    ASSERT_TRUE(one) << one.error().ToString();
    EXPECT_EQ((*one->Part(0))->keys.size(), 2);
  }
}

// A hundred thousand keys, and one that is there as often as all others together.
TEST_F(KeyedSourceTest, MemoryIsBoundedWhateverTheSizeOfTheSource) {
  constexpr int kKeys = 100'000;
  constexpr uint64_t kBudget = uint64_t{2} << 20;
  constexpr uint64_t kInFlight = uint64_t{1} << 20;  // a batch of the file, conformed, and its copy on its way to disk
  constexpr int kBatchKeys = 1000;
  const auto schema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("v", arrow::utf8())});
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer = arrow::ipc::MakeStreamWriter(sink, schema).ValueOrDie();
  for (int begin = 0; begin < kKeys; begin += kBatchKeys) {
    arrow::Int64Builder ids;
    arrow::StringBuilder texts;
    for (int i = begin; i < begin + kBatchKeys; ++i) {
      ASSERT_TRUE(ids.AppendValues({i + 1000, 7}).ok());
      ASSERT_TRUE(texts.AppendValues({fmt::format("{:0>80}", i), fmt::format("{:0>80}", i)}).ok());
    }
    ASSERT_TRUE(
        writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, 2 * kBatchKeys, {*ids.Finish(), *texts.Finish()}))
            .ok());
  }
  ASSERT_TRUE(writer->Close().ok());
  Put("/large.arrow", sink->Finish().ValueOrDie()->ToString());
  const uint64_t size = files_->Open("/large.arrow").value()->Size().value();
  ASSERT_GT(size, 4 * (kBudget + kInFlight));
  arrow::MemoryPool& pool = *arrow::default_memory_pool();
  const auto before = static_cast<uint64_t>(pool.bytes_allocated());
  uint64_t most = 0;
  const auto look = [&] { most = std::max(most, static_cast<uint64_t>(pool.bytes_allocated()) - before); };
  Hooks hooks;
  hooks.progress = [&](const Progress&) { look(); };
  auto source = Read({.rows = {.files = {"/large.arrow"}, .key = {"id"}, .memory_budget = kBudget}}, hooks);
  ASSERT_TRUE(source) << source.error().ToString();
  EXPECT_LT(most, kBudget + kInFlight);
  EXPECT_GT(source->parts(), 8U);
  EXPECT_GT(source->spilled_bytes(), size);
  most = 0;
  size_t keys = 0;
  uint64_t rows = 0;
  for (size_t part = 0; part < source->parts(); ++part) {
    const auto loaded = source->Part(part);
    ASSERT_TRUE(loaded) << loaded.error().ToString();
    look();
    EXPECT_LT((*loaded)->keys.memory(), kBudget);
    keys += static_cast<size_t>((*loaded)->keys.size());
    for (const auto& batch : (*loaded)->batches) rows += static_cast<uint64_t>(batch->num_rows());
  }
  EXPECT_LT(most, kBudget);
  EXPECT_EQ(keys, size_t{kKeys} + 1);
  EXPECT_EQ(rows, uint64_t{kKeys} + 1);
  const auto all = Rows(*source);
  EXPECT_EQ(all.at("7"), fmt::format("{:0>80}", kKeys - 1));
  EXPECT_EQ(all.at("1042"), fmt::format("{:0>80}", 42));
}

}  // namespace
}  // namespace delenda::ops
