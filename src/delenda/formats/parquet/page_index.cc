#include "delenda/formats/parquet/page_index.h"

#include <parquet/file_reader.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <limits>
#include <string>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/compact_reader.h"
#include "delenda/formats/parquet/parquet_file_state.h"

namespace delenda::parquet {
namespace {

// Where each read is a request: bytes of other columns' indexes that are read rather than asking once more.
constexpr uint64_t kIndexGap = uint64_t{1} << 20;
constexpr std::string_view kColumnIndexName = "a column index";
constexpr std::string_view kOffsetIndexName = "an offset index";

struct PageLocation {
  int64_t offset = 0;
  int32_t bytes = 0;
  int64_t first_row = 0;
};

struct ColumnIndex {
  std::vector<bool> null_pages;
  std::vector<std::string> min, max;
  std::optional<std::vector<int64_t>> null_counts;
};

Result<PageLocation> ReadPageLocation(CompactReader& reader) {
  std::optional<int64_t> offset, first_row;
  std::optional<int32_t> bytes;
  CompactField field;
  while (DELENDA_TRY(reader.NextField(field))) {
    if (field.id == 1) {
      offset = DELENDA_TRY(reader.I64(field));
    } else if (field.id == 2) {
      bytes = DELENDA_TRY(reader.I32(field));
    } else if (field.id == 3) {
      first_row = DELENDA_TRY(reader.I64(field));
    } else {
      DELENDA_TRY(reader.Skip(field.type));
    }
  }
  if (!offset || !bytes || !first_row) return Corrupt("a page location lacks its offset, size or first row");
  return PageLocation{*offset, *bytes, *first_row};
}

Result<std::vector<PageLocation>> ParseOffsetIndex(ByteView bytes) {
  CompactReader reader(bytes, kOffsetIndexName);
  std::optional<std::vector<PageLocation>> pages;
  CompactField field;
  while (DELENDA_TRY(reader.NextField(field))) {
    if (field.id != 1) {
      DELENDA_TRY(reader.Skip(field.type));
      continue;
    }
    const size_t count = DELENDA_TRY(reader.BeginList(field, kStruct));
    pages.emplace();
    for (size_t i = 0; i < count; ++i) pages->push_back(DELENDA_TRY(ReadPageLocation(reader)));
  }
  if (!pages) return Corrupt("an offset index has no page locations");
  return *std::move(pages);
}

Result<std::vector<std::string>> ReadBounds(CompactReader& reader, const CompactField& field) {
  const size_t count = DELENDA_TRY(reader.BeginList(field, kBinary));
  std::vector<std::string> bounds;
  for (size_t i = 0; i < count; ++i) bounds.emplace_back(AsText(DELENDA_TRY(reader.BinaryElement())));
  return bounds;
}

Result<ColumnIndex> ParseColumnIndex(ByteView bytes) {
  CompactReader reader(bytes, kColumnIndexName);
  ColumnIndex index;
  CompactField field;
  while (DELENDA_TRY(reader.NextField(field))) {
    if (field.id == 1) {
      const size_t count = DELENDA_TRY(reader.BeginList(field, kTrue));
      index.null_pages.clear();
      for (size_t i = 0; i < count; ++i) index.null_pages.push_back(DELENDA_TRY(reader.BoolElement()));
    } else if (field.id == 2) {
      index.min = DELENDA_TRY(ReadBounds(reader, field));
    } else if (field.id == 3) {
      index.max = DELENDA_TRY(ReadBounds(reader, field));
    } else if (field.id == 5) {
      const size_t count = DELENDA_TRY(reader.BeginList(field, kI64));
      index.null_counts.emplace();
      for (size_t i = 0; i < count; ++i) index.null_counts->push_back(DELENDA_TRY(reader.IntegerElement()));
    } else {
      DELENDA_TRY(reader.Skip(field.type));
    }
  }
  return index;
}

// Rows and bytes of the pages.
Result<std::vector<IndexedPage>> PlacePages(const std::vector<PageLocation>& locations, const IndexedChunk& chunk) {
  // A chunk without bytes behind its dictionary would else have none, and rows all the same.
  if (locations.empty() && chunk.rows != 0) return Corrupt("{} rows are said to lie in no page", chunk.rows);
  std::vector<IndexedPage> pages;
  pages.reserve(locations.size());
  uint64_t next_byte = chunk.data_pages.offset;
  const uint64_t end_byte = chunk.data_pages.offset + chunk.data_pages.length;
  for (size_t i = 0; i < locations.size(); ++i) {
    const PageLocation& page = locations[i];
    const int64_t end_row = i + 1 < locations.size() ? locations[i + 1].first_row : chunk.rows;
    // Each page has rows: one without could be told neither from the page before nor from the one behind it.
    if (page.first_row < 0 || (i == 0 && page.first_row != 0) || end_row <= page.first_row || end_row > chunk.rows)
      return Corrupt("page {} is said to hold rows {} to {} of {}", i, page.first_row, end_row, chunk.rows);
    if (page.offset < 0 || static_cast<uint64_t>(page.offset) != next_byte || page.bytes <= 0 ||
        static_cast<uint64_t>(page.bytes) > end_byte - next_byte) {
      return Corrupt("page {} is said to lie at offset {}, {} bytes long; expected offset {}, at most {} bytes", i,
                     page.offset, page.bytes, next_byte, end_byte - next_byte);
    }
    pages.push_back({.first_row = page.first_row,
                     .rows = end_row - page.first_row,
                     .bytes = {next_byte, static_cast<uint64_t>(page.bytes)},
                     .statistics = {}});
    next_byte += static_cast<uint64_t>(page.bytes);
  }
  if (next_byte != end_byte)
    return Corrupt("the pages end at offset {}, their column chunk at {}", next_byte, end_byte);
  return pages;
}

// Known to write indexes that cannot be relied on, whatever their version: github.com/xitongsys/parquet-go, pull
// request 567 (sizes and bounds of other pages).
bool WritesWrongIndexes(const std::string& created_by) { return created_by.starts_with("parquet-go version latest"); }

bool HasTrustedBounds(const ::parquet::FileMetaData& metadata, const ::parquet::ColumnDescriptor& column) {
  return BoundsAreInOrder(metadata, column) &&
         metadata.writer_version().HasCorrectStatistics(column.physical_type(), ::parquet::EncodedStatistics(),
                                                        column.sort_order());
}

}  // namespace

Result<std::vector<IndexedPage>> ParsePageIndex(ByteView column_index, ByteView offset_index,
                                                const IndexedChunk& chunk) {
  const ColumnIndex index = DELENDA_TRY(ParseColumnIndex(column_index));
  std::vector<IndexedPage> pages = DELENDA_TRY(PlacePages(DELENDA_TRY(ParseOffsetIndex(offset_index)), chunk));
  if (index.null_pages.size() != pages.size() || index.min.size() != pages.size() || index.max.size() != pages.size() ||
      (index.null_counts && index.null_counts->size() != pages.size())) {
    return Corrupt("{} pages have {} marks of NULLs, {} lower and {} upper bounds, {} counts of NULLs", pages.size(),
                   index.null_pages.size(), index.min.size(), index.max.size(),
                   index.null_counts ? index.null_counts->size() : pages.size());
  }
  int64_t nulls = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    LeafStatistics& statistics = pages[i].statistics;
    const bool all_null = index.null_pages[i];
    if (index.null_counts) {
      const int64_t count = (*index.null_counts)[i];
      if (count < 0 || count > pages[i].rows || (count == pages[i].rows) != all_null) {
        return Corrupt("page {} of {} rows is said to hold {} NULLs and {}", i, pages[i].rows, count,
                       all_null ? "nothing else" : "other values");
      }
      statistics.null_count = count;
      nulls += count;
    } else if (all_null) {
      statistics.null_count = pages[i].rows;
      nulls += pages[i].rows;
    }
    if (all_null || !chunk.has_bounds) continue;
    statistics.min = index.min[i];
    if (!index.max[i].empty()) statistics.max = index.max[i];
  }
  if (chunk.null_count && (index.null_counts ? nulls != *chunk.null_count : nulls > *chunk.null_count))
    return Corrupt("the pages are said to hold {} NULLs, their column chunk {}", nulls, *chunk.null_count);
  return pages;
}

PageIndexCost ParquetFile::CostOfPageIndex(size_t row_group, int leaf) const {
  const State& s = *state_;
  if (s.leaves[static_cast<size_t>(leaf)].repeated) return PageIndexCost::kNone;
  const auto cost = [&]() -> Result<PageIndexCost> {
    const auto chunk = s.metadata->RowGroup(static_cast<int>(row_group))->ColumnChunk(leaf);
    const auto columns = chunk->GetColumnIndexLocation();
    const auto offsets = chunk->GetOffsetIndexLocation();
    if (!columns || !offsets || WritesWrongIndexes(s.metadata->created_by())) return PageIndexCost::kNone;
    bool held = true;
    int64_t bytes = 0;
    for (const auto& at : {*columns, *offsets}) {
      // Within the file, whatever the footer says.
      const auto offset = static_cast<uint64_t>(at.offset);
      if (at.offset <= 0 || at.length <= 0 || offset > s.size || static_cast<uint64_t>(at.length) > s.size - offset)
        return PageIndexCost::kNone;
      bytes += at.length;
      held = held && offset >= s.tail_offset;
    }
    // Small beside what it saves.
    if (bytes >= chunk->total_compressed_size() / 2) return PageIndexCost::kNone;
    if (held) return PageIndexCost::kHeld;
    return s.file->SeeksAreCheap() ? PageIndexCost::kSeek : PageIndexCost::kRequest;
  };
  return Guarded(cost).value_or(PageIndexCost::kNone);
}

uint64_t ParquetFile::DecodedBytes(size_t row_group, int leaf) const {
  const int64_t bytes =
      state_->metadata->RowGroup(static_cast<int>(row_group))->ColumnChunk(leaf)->total_uncompressed_size();
  return bytes < 0 ? 0 : static_cast<uint64_t>(bytes);
}

Result<std::vector<Result<std::vector<IndexedPage>>>> ParquetFile::ReadPageIndexes(
    std::span<const ColumnChunk> chunks) const {
  const State& s = *state_;
  const auto read = [&]() -> Result<std::vector<Result<std::vector<IndexedPage>>>> {
    std::vector<io::ByteRange> ranges;
    for (const ColumnChunk& at : chunks) {
      if (CostOfPageIndex(at.row_group, at.leaf) == PageIndexCost::kNone)
        return InternalError("there is no page index to read");
      const auto chunk = s.metadata->RowGroup(static_cast<int>(at.row_group))->ColumnChunk(at.leaf);
      for (const auto& location : {*chunk->GetColumnIndexLocation(), *chunk->GetOffsetIndexLocation()})
        ranges.push_back({static_cast<uint64_t>(location.offset), static_cast<uint64_t>(location.length)});
    }
    // The footer's read has brought those at the end of the file.
    std::vector<ByteView> views(ranges.size());
    std::vector<io::ByteRange> missing;
    std::vector<size_t> missing_at;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].offset >= s.tail_offset) {
        views[i] = ByteView(*s.tail).subspan(static_cast<size_t>(ranges[i].offset - s.tail_offset),
                                             static_cast<size_t>(ranges[i].length));
      } else {
        missing.push_back(ranges[i]);
        missing_at.push_back(i);
      }
    }
    // Those of other columns lie in between.
    io::RangeOptions options;
    if (!s.file->SeeksAreCheap()) options.max_gap = kIndexGap;
    const std::vector<io::RangeBytes> fetched = DELENDA_TRY(io::ReadRanges(*s.file, missing, options));
    for (size_t i = 0; i < missing.size(); ++i) views[missing_at[i]] = fetched[i].view;

    std::vector<Result<std::vector<IndexedPage>>> indexes;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const ColumnChunk& at = chunks[i];
      const auto chunk = s.metadata->RowGroup(static_cast<int>(at.row_group))->ColumnChunk(at.leaf);
      const auto parse = [&]() -> Result<std::vector<IndexedPage>> {
        const io::ByteRange whole = DELENDA_TRY(ChunkRange(at.row_group, at.leaf));
        const auto first_page = static_cast<uint64_t>(chunk->data_page_offset());
        if (first_page < whole.offset || first_page - whole.offset > whole.length)
          return Corrupt("the first data page lies outside of its column chunk");
        const auto statistics = DELENDA_TRY(Statistics(at.row_group, at.leaf));
        return ParsePageIndex(views[2 * i], views[2 * i + 1],
                              {.rows = s.row_groups[at.row_group].num_rows,
                               .data_pages = {first_page, whole.length - (first_page - whole.offset)},
                               .null_count = statistics.null_count,
                               .has_bounds = HasTrustedBounds(*s.metadata, *s.metadata->schema()->Column(at.leaf))});
      };
      indexes.push_back(WithContext(parse(), "column", s.leaves[static_cast<size_t>(at.leaf)].path));
    }
    return indexes;
  };
  return WithContext(Guarded(read), "file", path());
}

}  // namespace delenda::parquet
