// Writing manifests: Java's manifests come out byte by byte (inflated), and what readers would mistake is refused.
#include "delenda/iceberg/manifest_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <string>

#include "avro_blocks.h"
#include "delenda/formats/json/json.h"
#include "delenda/iceberg/manifest_schema.h"
#include "delenda/iceberg/schema_json.h"
#include "delenda/iceberg/table_location.h"
#include "support/fixtures.h"

namespace delenda::iceberg {
namespace {

using testing::AvroParts;
using testing::BytesOfFile;
using testing::TakeApart;

// What a manifest's header says of its partition spec.
BoundSpec SpecOfHeader(const AvroParts& parts) {
  const auto schema = json::Document::Parse(parts.metadata.at("schema"));
  const auto spec = json::Document::Parse(parts.metadata.at("partition-spec"));
  EXPECT_TRUE(schema && spec);
  auto parsed = *PartitionSpecFromJson(spec->root());
  parsed.spec_id = std::stoi(parts.metadata.at("partition-spec-id"));
  return BoundSpec::Make(parsed, *SchemaFromJson(schema->root()));
}

// Entries as they lie in the file, nothing inherited.
struct RawEntries {
  avro::Columns columns;
  const avro::Column *status, *snapshot, *sequence, *file_sequence, *first_row_id, *sizes, *values, *lower, *nans;
};

std::optional<int64_t> Optional(const avro::Column& column, size_t row) {
  return column.IsNull(row) ? std::nullopt : std::optional(column.Int(row));
}

Result<RawEntries> ReadRaw(Bytes file) {
  auto reader = DELENDA_TRY(avro::Reader::Open(std::move(file)));
  auto columns = DELENDA_TRY(reader.ReadAll(avro::Projection::Everything()));
  RawEntries raw{std::move(columns), {}, {}, {}, {}, {}, {}, {}, {}, {}};
  using avro::Storage;
  raw.status = DELENDA_TRY(raw.columns.Required({0}, Storage::kInt));
  raw.snapshot = DELENDA_TRY(raw.columns.Required({1}, Storage::kInt));
  raw.sequence = DELENDA_TRY(raw.columns.Required({3}, Storage::kInt));
  raw.file_sequence = DELENDA_TRY(raw.columns.Required({4}, Storage::kInt));
  const auto child = [&](int32_t id) {
    for (const auto* field : raw.columns.fields()) {
      if (field->id() == 2) return field->Child(id);
    }
    return static_cast<const avro::Column*>(nullptr);
  };
  raw.first_row_id = child(142);
  raw.sizes = child(108);
  raw.values = child(109);
  raw.lower = child(125);
  raw.nans = child(137);
  return raw;
}

struct Rewritten {
  std::string schema;
  WrittenManifest manifest;
  bool comparable = true;  // the maps' keys were in order, and all or none of the maps were there
};

// Reads a manifest and writes it again.
Result<Rewritten> Rewrite(io::FileIO& io, const ManifestFile& manifest, const Bytes& file, const AvroParts& parts) {
  Rewritten out;
  const BoundSpec spec = SpecOfHeader(parts);
  const auto document = DELENDA_TRY(json::Document::Parse(parts.metadata.at("schema")));
  const Schema schema = DELENDA_TRY(SchemaFromJson(document.root()));
  const int32_t version = std::stoi(parts.metadata.at("format-version"));
  out.schema = DELENDA_TRY(ManifestEntrySchema(version, spec));
  auto writer = DELENDA_TRY(ManifestWriter::Make(schema, spec,
                                                 {.format_version = version,
                                                  .content = manifest.content,
                                                  .snapshot_id = manifest.added_snapshot_id,
                                                  .path = manifest.path}));
  const RawEntries raw = DELENDA_TRY(ReadRaw(file));
  const std::map<int32_t, BoundSpec> specs = {{spec.spec.spec_id, spec}};
  avro::SchemaCache schemas;
  auto reader = DELENDA_TRY(ManifestReader::Open(io, manifest, specs, schemas, {.bounds = false, .metrics = true}));
  for (size_t base = 0; DELENDA_TRY(reader.NextBlock()); base += reader.rows()) {
    for (size_t row = 0; row < reader.rows(); ++row) {
      const size_t at = base + row;
      ContentFile entry = reader.File(row);
      entry.first_row_id = raw.first_row_id != nullptr ? Optional(*raw.first_row_id, at) : std::nullopt;
      if (raw.sizes->IsNull(at) && raw.values->IsNull(at) && raw.lower->IsNull(at)) {
        entry.metrics = nullptr;
      } else if (raw.sizes->IsNull(at) || raw.values->IsNull(at) || raw.lower->IsNull(at) || raw.nans->IsNull(at)) {
        out.comparable = false;
      }
      // Made on an executor before the snapshot has an id: it is inherited. Our writer puts it in.
      if (raw.snapshot->IsNull(at)) out.comparable = false;
      // Java's hash maps: with ids beyond their size, keys come in no order.
      for (const avro::Column* map : {raw.sizes, raw.values, raw.lower, raw.nans}) {
        const avro::Column& key = *map->ChildNamed("key");
        for (uint32_t i = map->Begin(at); i + 1 < map->End(at); ++i) {
          if (key.Int(i) > key.Int(i + 1)) out.comparable = false;
        }
      }
      DELENDA_TRY(writer.Write({.status = static_cast<EntryStatus>(raw.status->Int(at)),
                                .snapshot_id = Optional(*raw.snapshot, at),
                                .data_sequence_number = Optional(*raw.sequence, at),
                                .file_sequence_number = Optional(*raw.file_sequence, at)},
                               entry));
    }
  }
  out.manifest = DELENDA_TRY(std::move(writer).Finish());
  return out;
}

bool IsAscii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string Describe(const ManifestFile& manifest) {
  std::string text = fmt::format("spec {} content {} min {} files {} {} {} rows {} {} {}", *manifest.spec_id,
                                 static_cast<int>(manifest.content), manifest.min_sequence_number,
                                 *manifest.added_files, *manifest.existing_files, *manifest.deleted_files,
                                 *manifest.added_rows, *manifest.existing_rows, *manifest.deleted_rows);
  for (const FieldSummary& field : manifest.partitions) {
    text += fmt::format(" [{} {} '{}' '{}']", field.contains_null, field.contains_nan.value_or(false),
                        field.lower.value_or("-"), field.upper.value_or("-"));
  }
  return text;
}

// All manifests that Iceberg Java wrote into the fixture tables.
TEST(ManifestWriter, WritesJavasManifestsByteByByte) {
  const auto io = testing::FixtureIO();
  std::set<std::string> done;
  size_t equal = 0;
  size_t not_comparable = 0;
  for (const std::string& path : testing::FixtureMetadataFiles()) {
    if (path.find("/pyiceberg_") != std::string::npos) continue;
    const auto table = LoadTable(*io, path);
    if (!table || table->metadata.format_version < 2) continue;
    avro::SchemaCache schemas;
    for (const Snapshot& snapshot : table->metadata.snapshots) {
      const auto manifests = ReadManifests(*io, snapshot, schemas);
      if (!manifests) continue;  // old metadata names lists that were removed since
      for (ManifestFile manifest : *manifests) {
        if (!done.insert(manifest.path).second) continue;
        SCOPED_TRACE(manifest.path);
        const auto file = io::ReadWholeFile(*io, manifest.path);
        if (!file) continue;
        const auto java = TakeApart(*file);
        ASSERT_TRUE(java) << java.error().ToString();
        if (java->metadata.at("format-version") == "1") continue;
        const auto ours = Rewrite(*io, manifest, *file, *java);
        ASSERT_TRUE(ours) << ours.error().ToString();
        if (IsAscii(java->metadata.at("avro.schema"))) {
          EXPECT_EQ(ours->schema, java->metadata.at("avro.schema"));
        }
        const auto parts = TakeApart(ours->manifest.bytes);
        ASSERT_TRUE(parts) << parts.error().ToString();
        for (const char* key : {"schema", "partition-spec", "partition-spec-id", "format-version", "content"}) {
          EXPECT_EQ(parts->metadata.at(key), java->metadata.at(key)) << key;
        }
        EXPECT_EQ(parts->rows, java->rows);
        EXPECT_EQ(ours->manifest.file.length, ours->manifest.bytes.size());
        // As the list has it, but for what the commit puts in.
        if (ours->manifest.file.min_sequence_number == kUnassignedSequenceNumber)
          manifest.min_sequence_number = kUnassignedSequenceNumber;
        EXPECT_EQ(Describe(ours->manifest.file), Describe(manifest));
        if (ours->comparable) {
          EXPECT_TRUE(parts->data == java->data);
          ++equal;
        } else {
          ++not_comparable;
        }
      }
    }
  }
  EXPECT_GE(equal, 280U);
  EXPECT_LE(not_comparable, 100U);
  RecordProperty("equal", static_cast<int>(equal));
  RecordProperty("not_comparable", static_cast<int>(not_comparable));
}

std::string Hex(const std::optional<std::string>& text) {
  if (!text) return "-";
  std::string hex;
  for (const char c : *text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

// data/partition_types_vN.avro: Java's manifests with a partition field of every type (identity of 18 columns, void),
// with NULLs, NaN and both zeros; made by tests/interop/java/PartitionTypes.java, which also printed the summaries.
TEST(ManifestWriter, WritesEveryPartitionTypeAsJavaDoes) {
  const std::vector<std::string> summaries = {
      "true false 01 01",
      "true false fbffffff fbffffff",
      "true false 0000000000010000 0000000000010000",
      "true false 00000080 00000000",
      "true true 000000000000f83f 000000000000f83f",
      "true false fb2e 3b9ac9ff",
      "true false 0949b0f6f0023313c449904ecc674515 0949b0f6f0023313c449904ecc674515",
      "true false ffffffff ffffffff",
      "true false 01a493d600000000 01a493d600000000",
      "true false ffffffffffffffff ffffffffffffffff",
      "true false 075c9e7c84120600 075c9e7c84120600",
      "true false f9ffffffffffffff f9ffffffffffffff",
      "true false 597b97ca8655b817 597b97ca8655b817",
      "true false 7ac3bc7269636820f09f9880 7aefbfae",
      "true false f79c3e09677c4bbda4793f349cb785e7 f79c3e09677c4bbda4793f349cb785e7",
      "true false 8000 8000",
      "true false 01 01",
      "true false 00000000000000000000000000000001 00000000000000000000000000000001",
      "true false - -"};
  for (const int version : {2, 3}) {
    SCOPED_TRACE(version);
    const std::string path = fmt::format("{}/../unit/iceberg/data/partition_types_v{}.avro", DELENDA_FIXTURES, version);
    const Bytes file = BytesOfFile(path);
    const auto java = TakeApart(file);
    ASSERT_TRUE(java) << java.error().ToString();
    const auto io = io::MakeLocalFileIO();
    ManifestFile manifest;
    manifest.path = path;
    manifest.length = file.size();
    manifest.spec_id = 0;
    manifest.sequence_number = 9;
    manifest.added_snapshot_id = 77;
    const auto ours = Rewrite(*io, manifest, file, *java);
    ASSERT_TRUE(ours) << ours.error().ToString();
    // The last name, "9 odd/nü": Java keeps the ü, which Avro does not allow.
    std::string schema = java->metadata.at("avro.schema");
    const std::string odd = "_9_x20odd_x2Fn";
    schema.replace(schema.find(odd), odd.size() + 2, odd + "_xFC");
    EXPECT_EQ(ours->schema, schema);
    const auto parts = TakeApart(ours->manifest.bytes);
    ASSERT_TRUE(parts);
    EXPECT_TRUE(parts->data == java->data);
    const ManifestFile& written = ours->manifest.file;
    EXPECT_EQ(written.added_files, 2);
    EXPECT_EQ(written.added_rows, 7);
    EXPECT_EQ(written.existing_files, 1);
    EXPECT_EQ(written.existing_rows, 5);
    EXPECT_EQ(written.deleted_files, 1);
    EXPECT_EQ(written.deleted_rows, 5);
    EXPECT_EQ(written.sequence_number, kUnassignedSequenceNumber);
    EXPECT_EQ(written.min_sequence_number, 3);  // of live entries: the removed one has 2
    ASSERT_EQ(written.partitions.size(), summaries.size());
    for (size_t i = 0; i < summaries.size(); ++i) {
      const FieldSummary& field = written.partitions[i];
      EXPECT_EQ(
          fmt::format("{} {} {} {}", field.contains_null, *field.contains_nan, Hex(field.lower), Hex(field.upper)),
          summaries[i])
          << i;
    }
  }
}

TEST(AvroNames, AreMadeOfColumnNames) {
  const std::pair<const char*, const char*> cases[] = {{"plain_1", "plain_1"},
                                                       {"_x", "_x"},
                                                       {"9x", "_9x"},
                                                       {"a b", "a_x20b"},
                                                       {"a.b", "a_x2Eb"},
                                                       {"ü", "_xFC"},
                                                       {"😀", "_xD83D_xDE00"},
                                                       {"a-b", "a_x2Db"},
                                                       {"", "_"},
                                                       {"9 odd/n", "_9_x20odd_x2Fn"}};
  for (const auto& [name, made] : cases) EXPECT_EQ(AvroName(name), made) << name;
}

TEST(AvroNames, StayDifferentWithinARecord) {
  const Schema schema = *Schema::Make(0, {{.id = 1, .name = "a b", .type = TypeKind::kInt}});
  PartitionSpec spec{.spec_id = 0, .fields = {}};
  for (const auto& [id, name] : {std::pair(1000, "a_x20b"), std::pair(1001, "a b"), std::pair(1002, "c")})
    spec.fields.push_back({.source_id = 1, .field_id = id, .name = name, .transform = *Transform::Parse("identity")});
  const auto text = ManifestEntrySchema(3, BoundSpec::Make(spec, schema));
  ASSERT_TRUE(text);
  EXPECT_NE(text->find(R"({"name":"a_x20b","type":["null","int"],"default":null,"field-id":1000})"), std::string::npos);
  EXPECT_NE(text->find(R"({"name":"a_x20b_1001","type":["null","int"],"default":null,"iceberg-field-name":"a b",)"),
            std::string::npos);
}

TEST(DecimalBytes, AreTheFewestThatHoldThePrecision) {
  // Iceberg spec, "Appendix A: Avro": fixed of the minimum length for the precision; as Java computes them.
  const std::pair<int, int> cases[] = {{1, 1}, {2, 1},  {3, 2},  {4, 2},  {5, 3},
                                       {9, 4}, {10, 5}, {18, 8}, {19, 9}, {38, 16}};
  for (const auto& [precision, bytes] : cases) EXPECT_EQ(DecimalBytes(precision), bytes) << precision;
}

// --- rules

class ManifestRules : public ::testing::Test {
 protected:
  ManifestRules()
      : schema_(*Schema::Make(0, {{.id = 1, .name = "id", .type = TypeKind::kInt},
                                  {.id = 2, .name = "d", .type = Type::Decimal(4, 0)}})) {
    spec_.fields.push_back(
        {.source_id = 1, .field_id = 1000, .name = "id", .transform = *Transform::Parse("identity")});
    spec_.fields.push_back({.source_id = 2, .field_id = 1001, .name = "d", .transform = *Transform::Parse("identity")});
    spec_.spec_id = 4;
  }

  Result<ManifestWriter> Writer(int32_t version, ManifestContent content) const {
    return ManifestWriter::Make(
        schema_, BoundSpec::Make(spec_, schema_),
        {.format_version = version, .content = content, .snapshot_id = 77, .path = "/t/metadata/m0.avro"});
  }
  static std::shared_ptr<const PartitionTuple> Tuple(Datum id, Datum decimal) {
    auto tuple = std::make_shared<PartitionTuple>();
    tuple->values = {std::move(id), std::move(decimal)};
    return tuple;
  }
  static ContentFile DataFile() {
    ContentFile file;
    file.path = "/t/data/a.parquet";
    file.spec_id = 4;
    file.partition = Tuple(Datum(int64_t{1}), Datum());
    file.record_count = 10;
    file.file_size = 100;
    file.data_sequence_number = 3;
    file.file_sequence_number = 3;
    return file;
  }
  static ContentFile Vector() {
    ContentFile file = DataFile();
    file.content = FileContent::kPositionDeletes;
    file.format = FileFormat::kPuffin;
    file.path = "/t/data/a.puffin";
    file.referenced_data_file = "/t/data/a.parquet";
    file.content_offset = 4;
    file.content_size = 40;
    return file;
  }
  static ContentFile EqualityDeletes() {
    ContentFile file = DataFile();
    file.content = FileContent::kEqualityDeletes;
    file.equality_ids = {1};
    return file;
  }
  static ContentFile PositionDeletes() {
    ContentFile file = DataFile();
    file.content = FileContent::kPositionDeletes;
    return file;
  }

  Schema schema_;
  PartitionSpec spec_;
};

TEST_F(ManifestRules, RefusesFilesThatReadersWouldMistake) {
  struct Case {
    const char* name;
    int32_t version;
    ManifestContent content;
    ContentFile (*base)();
    void (*change)(ContentFile&);
    ErrorKind kind = ErrorKind::kInvalidArgument;
  };
  using enum ManifestContent;
  const Case cases[] = {
      {"delete file in a data manifest", 3, kData, EqualityDeletes, [](ContentFile&) {}},
      {"data file in a delete manifest", 3, kDeletes, DataFile, [](ContentFile&) {}},
      {"no path", 3, kData, DataFile, [](ContentFile& f) { f.path = ""; }},
      {"path no UTF-8", 3, kData, DataFile, [](ContentFile& f) { f.path = "/t/\xff"; }},
      {"unknown format", 3, kData, DataFile, [](ContentFile& f) { f.format = FileFormat::kOther; }},
      {"data in Puffin", 3, kData, DataFile, [](ContentFile& f) { f.format = FileFormat::kPuffin; }},
      {"negative rows", 3, kData, DataFile, [](ContentFile& f) { f.record_count = -1; }},
      {"negative size", 3, kData, DataFile, [](ContentFile& f) { f.file_size = -1; }},
      {"other spec", 3, kData, DataFile, [](ContentFile& f) { f.spec_id = 5; }},
      {"no partition", 3, kData, DataFile, [](ContentFile& f) { f.partition = nullptr; }},
      {"short tuple", 3, kData, DataFile, [](ContentFile& f) { f.partition = std::make_shared<PartitionTuple>(); }},
      {"value of another type", 3, kData, DataFile,
       [](ContentFile& f) { f.partition = Tuple(Datum(std::string("1")), Datum()); }},
      {"value above 32 bits", 3, kData, DataFile,
       [](ContentFile& f) { f.partition = Tuple(Datum(int64_t{1} << 31), Datum()); }},
      {"decimal too wide", 3, kData, DataFile,
       [](ContentFile& f) { f.partition = Tuple(Datum(), Datum(Int128{32768})); }},
      {"equality ids of data", 3, kData, DataFile, [](ContentFile& f) { f.equality_ids = {1}; }},
      {"equality deletes without ids", 3, kDeletes, EqualityDeletes, [](ContentFile& f) { f.equality_ids.clear(); }},
      {"blob place of data", 3, kData, DataFile, [](ContentFile& f) { f.content_offset = 4; }},
      {"referenced file of data", 3, kData, DataFile, [](ContentFile& f) { f.referenced_data_file = "/t/b"; }},
      {"first row id of deletes", 3, kDeletes, Vector, [](ContentFile& f) { f.first_row_id = 0; }},
      {"first row id in version 2", 2, kData, DataFile, [](ContentFile& f) { f.first_row_id = 0; }},
      {"negative first row id", 3, kData, DataFile, [](ContentFile& f) { f.first_row_id = -1; }},
      {"vector in version 2", 2, kDeletes, Vector, [](ContentFile&) {}},
      {"vector without offset", 3, kDeletes, Vector, [](ContentFile& f) { f.content_offset.reset(); }},
      {"vector at a negative offset", 3, kDeletes, Vector, [](ContentFile& f) { f.content_offset = -4; }},
      {"vector without size", 3, kDeletes, Vector, [](ContentFile& f) { f.content_size.reset(); }},
      {"vector of no bytes", 3, kDeletes, Vector, [](ContentFile& f) { f.content_size = 0; }},
      {"vector without data file", 3, kDeletes, Vector, [](ContentFile& f) { f.referenced_data_file.reset(); }},
      {"vector with sort order", 3, kDeletes, Vector, [](ContentFile& f) { f.sort_order_id = 0; }},
      {"vector with equality ids", 3, kDeletes, Vector, [](ContentFile& f) { f.equality_ids = {1}; }},
      {"new position deletes in version 3", 3, kDeletes, PositionDeletes, [](ContentFile&) {},
       ErrorKind::kValidationFailed},
  };
  for (const Case& test : cases) {
    auto writer = Writer(test.version, test.content);
    ASSERT_TRUE(writer);
    const size_t before = writer->size();
    ContentFile file = test.base();
    test.change(file);
    const auto added = writer->Add(file);
    ASSERT_FALSE(added) << test.name;
    EXPECT_EQ(added.error().kind(), test.kind) << test.name << ": " << added.error().ToString();
    EXPECT_EQ(writer->size(), before) << test.name;
    EXPECT_EQ(writer->entries(), 0U) << test.name;
  }
  // What the cases start from is fine.
  EXPECT_TRUE(Writer(3, kData)->Add(DataFile()));
  EXPECT_TRUE(Writer(2, kData)->Add(DataFile()));
  EXPECT_TRUE(Writer(3, kDeletes)->Add(Vector()));
  EXPECT_TRUE(Writer(3, kDeletes)->Add(EqualityDeletes()));
  EXPECT_TRUE(Writer(2, kDeletes)->Add(PositionDeletes()));
  // Old position deletes of an upgraded table stay valid.
  EXPECT_TRUE(Writer(3, kDeletes)->Keep(PositionDeletes(), 5));
  EXPECT_TRUE(Writer(3, kDeletes)->Remove(PositionDeletes()));
}

TEST_F(ManifestRules, RefusesSequenceNumbersThatWouldBeInheritedWrongly) {
  struct Case {
    const char* name;
    ManifestEntry entry;
    bool ok;
  };
  const Case cases[] = {
      {"added", {.status = EntryStatus::kAdded}, true},
      {"added with own data number", {.status = EntryStatus::kAdded, .data_sequence_number = 2}, true},
      {"added by this snapshot", {.status = EntryStatus::kAdded, .snapshot_id = 77}, true},
      {"added by another one", {.status = EntryStatus::kAdded, .snapshot_id = 76}, false},
      {"existing without numbers", {.status = EntryStatus::kExisting, .snapshot_id = 77}, false},
      {"existing without file number",
       {.status = EntryStatus::kExisting, .snapshot_id = 7, .data_sequence_number = 2},
       false},
      {"existing",
       {.status = EntryStatus::kExisting, .snapshot_id = 7, .data_sequence_number = 2, .file_sequence_number = 2},
       true},
      {"deleted without numbers", {.status = EntryStatus::kDeleted}, false},
      {"deleted", {.status = EntryStatus::kDeleted, .data_sequence_number = 0, .file_sequence_number = 0}, true},
      {"negative", {.status = EntryStatus::kAdded, .data_sequence_number = -1}, false},
  };
  for (const Case& test : cases) {
    auto writer = Writer(3, ManifestContent::kData);
    ASSERT_TRUE(writer);
    EXPECT_EQ(writer->Write(test.entry, DataFile()).has_value(), test.ok) << test.name;
  }
}

TEST_F(ManifestRules, RefusesOtherVersionsAndUnknownTransforms) {
  EXPECT_EQ(Writer(1, ManifestContent::kData).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Writer(4, ManifestContent::kData).error().kind(), ErrorKind::kInvalidArgument);
  spec_.fields[0].transform = *Transform::Parse("zorder");
  EXPECT_EQ(Writer(3, ManifestContent::kData).error().kind(), ErrorKind::kNotSupported);
}

// Java (1.12.0) writes and reads fixed partition values with a length, as bytes, against the schema that it writes:
// what follows the specification is garbled there, and the other way round.
TEST_F(ManifestRules, RefusesFixedPartitionValues) {
  schema_ = *Schema::Make(
      0, {{.id = 1, .name = "id", .type = Type::Fixed(5)}, {.id = 2, .name = "d", .type = TypeKind::kInt}});
  EXPECT_EQ(Writer(3, ManifestContent::kData).error().kind(), ErrorKind::kNotSupported);
  spec_.fields[0].transform = *Transform::Parse("void");
  auto writer = Writer(3, ManifestContent::kData);
  ASSERT_TRUE(writer) << writer.error().ToString();
  ContentFile file = DataFile();
  file.partition = Tuple(Datum(), Datum(int64_t{3}));
  EXPECT_TRUE(writer->Add(file));
}

// Random files over many blocks, read back with what is inherited.
TEST_F(ManifestRules, RandomFilesReadBack) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
  constexpr avro::Codec kCodecs[] = {avro::Codec::kDeflate, avro::Codec::kZstandard, avro::Codec::kSnappy,
                                     avro::Codec::kNull};
  for (const avro::Codec codec : kCodecs) {
    auto writer = ManifestWriter::Make(
        schema_, BoundSpec::Make(spec_, schema_),
        {.format_version = 3, .snapshot_id = 77, .path = "/t/m.avro", .avro = {.codec = codec, .block_bytes = 5000}});
    ASSERT_TRUE(writer);
    std::vector<std::pair<EntryStatus, ContentFile>> written;
    int64_t next_row_id = 1000;
    for (int i = 0; i < 1500; ++i) {
      ContentFile file = DataFile();
      file.path = fmt::format("/t/data/{}-{}.parquet", i, random());
      file.partition = Tuple(below(5) == 0 ? Datum() : Datum(below(1000) - 500),
                             below(5) == 0 ? Datum() : Datum(static_cast<Int128>(below(19999) - 9999)));
      file.record_count = below(1 << 20);
      file.file_size = below(uint64_t{1} << 40);
      if (below(3) > 0) {
        auto metrics = std::make_shared<FileMetrics>();
        for (int32_t id = 0; id < below(6); ++id) {
          metrics->column_sizes[id * 7] = below(uint64_t{1} << 50);
          metrics->value_counts[id] = below(100);
          metrics->lower_bounds[id] = std::string(static_cast<size_t>(below(40)), static_cast<char>(below(256)));
        }
        file.metrics = metrics;
      }
      for (int64_t k = below(4); k > 0; --k) file.split_offsets.push_back(below(1 << 30));
      if (below(2) == 0) file.sort_order_id = static_cast<int32_t>(below(5));
      const auto status = static_cast<EntryStatus>(below(3));
      if (status == EntryStatus::kAdded) {
        ASSERT_TRUE(writer->Add(file));
        file.data_sequence_number = file.file_sequence_number = 9;  // the manifest's
        file.first_row_id = next_row_id;
        next_row_id += file.record_count;
      } else {
        file.data_sequence_number = below(9);
        file.file_sequence_number = below(9);
        // Removed files keep the id that they had, and inherit none.
        if (status == EntryStatus::kExisting || below(2) == 0) file.first_row_id = below(1000);
        ASSERT_TRUE(status == EntryStatus::kExisting ? writer->Keep(file, 5) : writer->Remove(file));
      }
      written.emplace_back(status, std::move(file));
    }
    auto manifest = std::move(*writer).Finish();
    ASSERT_TRUE(manifest);
    const auto io = io::MakeMemoryFileIO();
    auto out = io->Create("/t/m.avro");
    ASSERT_TRUE(out && (*out)->Write(manifest->bytes) && (*out)->Close());
    manifest->file.sequence_number = 9;
    manifest->file.first_row_id = 1000;
    const std::map<int32_t, BoundSpec> specs = {{4, BoundSpec::Make(spec_, schema_)}};
    avro::SchemaCache schemas;
    auto reader = ManifestReader::Open(*io, manifest->file, specs, schemas, {.bounds = false, .metrics = true});
    ASSERT_TRUE(reader) << reader.error().ToString();
    size_t at = 0;
    size_t blocks = 0;
    for (;; ++blocks) {
      const auto more = reader->NextBlock();
      ASSERT_TRUE(more) << more.error().ToString();
      if (!*more) break;
      for (size_t row = 0; row < reader->rows(); ++row, ++at) {
        const auto& [status, file] = written[at];
        const ContentFile read = reader->File(row);
        ASSERT_EQ(reader->Status(row), status);
        ASSERT_EQ(reader->SnapshotId(row), status == EntryStatus::kExisting ? 5 : 77);
        ASSERT_EQ(read.path, file.path);
        ASSERT_EQ(*read.partition, *file.partition);
        ASSERT_EQ(read.record_count, file.record_count);
        ASSERT_EQ(read.file_size, file.file_size);
        ASSERT_EQ(read.data_sequence_number, file.data_sequence_number);
        ASSERT_EQ(read.file_sequence_number, file.file_sequence_number);
        ASSERT_EQ(read.first_row_id, file.first_row_id);
        ASSERT_EQ(read.sort_order_id, file.sort_order_id);
        ASSERT_EQ(read.split_offsets, file.split_offsets);
        const FileMetrics metrics = file.metrics ? *file.metrics : FileMetrics();
        ASSERT_EQ(read.metrics->column_sizes, metrics.column_sizes);
        ASSERT_EQ(read.metrics->value_counts, metrics.value_counts);
        ASSERT_EQ(read.metrics->null_counts, metrics.null_counts);
        ASSERT_EQ(read.metrics->lower_bounds, metrics.lower_bounds);
      }
    }
    EXPECT_EQ(at, written.size());
    EXPECT_GT(blocks, 10U);
  }
}

TEST_F(ManifestRules, CountsOverflowIsRefused) {
  auto writer = Writer(3, ManifestContent::kData);
  ASSERT_TRUE(writer);
  ContentFile file = DataFile();
  file.record_count = std::numeric_limits<int64_t>::max();
  ASSERT_TRUE(writer->Add(file));
  EXPECT_FALSE(writer->Add(file));
  EXPECT_EQ(writer->entries(), 1U);
}

}  // namespace
}  // namespace delenda::iceberg
