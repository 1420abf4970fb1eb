#include "delenda/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda {
namespace {

constexpr size_t kGap = 2;        // blanks between columns
constexpr size_t kNarrowest = 6;  // a column that is cut keeps at least this much
constexpr std::string_view kEllipsis = "…";

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 1;
};

// `text` is not empty. Bytes that are not UTF-8 come one by one.
CodePoint FirstCodePoint(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (length == 1 || length > text.size()) return {.value = first, .bytes = 1};
  char32_t value = first & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) value = (value << 6) | (byte(i) & 0x3FU);
  return {.value = value, .bytes = length};
}

struct CodeRange {
  char32_t first, last;
};

template <size_t kCount>
bool IsIn(const std::array<CodeRange, kCount>& ranges, char32_t value) {
  return std::ranges::any_of(ranges,
                             [value](const CodeRange& range) { return value >= range.first && value <= range.last; });
}

// Unicode: combining marks, joiners and variation selectors, as far as they are common.
constexpr std::array<CodeRange, 7> kZeroWidth = {{{0x300, 0x36F},
                                                  {0x200B, 0x200F},
                                                  {0x20D0, 0x20FF},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x1DC0, 0x1DFF},
                                                  {0xFE00, 0xFE0F},
                                                  {0xFE20, 0xFE2F}}};
// Unicode: East Asian Width W and F, and emoji.
constexpr std::array<CodeRange, 10> kDoubleWidth = {{{0x1100, 0x115F},
                                                     {0x2E80, 0x303E},
                                                     {0x3041, 0xA4CF},
                                                     {0xA960, 0xA97F},
                                                     {0xAC00, 0xD7A3},
                                                     {0xF900, 0xFAFF},
                                                     {0xFE30, 0xFE6F},
                                                     {0xFF00, 0xFF60},
                                                     {0x1F300, 0x1FAFF},
                                                     {0x20000, 0x3FFFD}}};

size_t WidthOf(char32_t value) {
  if (value < 0x300) return 1;
  if (IsIn(kZeroWidth, value)) return 0;
  return IsIn(kDoubleWidth, value) ? 2 : 1;
}

// Control characters would move the cursor, ring, or recolour the terminal.
std::string Printable(std::string text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  // U+0080 to U+009F, which terminals obey too, are the bytes C2 80 to C2 9F.
  const bool clean = std::ranges::none_of(text, is_control) && text.find('\xC2') == std::string::npos;
  if (clean && IsValidUtf8(text)) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    size_t bytes = FirstCodePoint(rest).bytes;
    if (!IsValidUtf8(rest.substr(0, bytes))) bytes = 1;
    const std::string_view piece = rest.substr(0, bytes);
    const char c = piece.front();
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if ((bytes == 1 && (is_control(c) || static_cast<unsigned char>(c) >= 0x80)) ||
             (bytes == 2 && c == '\xC2' && static_cast<unsigned char>(piece[1]) < 0xA0)) {
      for (const char part : piece) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(part));
    } else {
      out += piece;
    }
    rest.remove_prefix(bytes);
  }
  return out;
}

// The longest beginning of `text` that takes at most `width` columns.
std::string_view Beginning(std::string_view text, size_t width) {
  size_t used = 0, bytes = 0;
  while (bytes < text.size()) {
    const CodePoint next = FirstCodePoint(text.substr(bytes));
    used += WidthOf(next.value);
    if (used > width) break;
    bytes += next.bytes;
  }
  return text.substr(0, bytes);
}

std::string_view End(std::string_view text, size_t width) {
  size_t left = DisplayWidth(text);
  while (left > width) {
    const CodePoint first = FirstCodePoint(text);
    left -= WidthOf(first.value);
    text.remove_prefix(first.bytes);
  }
  return text;
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint next = FirstCodePoint(text);
    width += WidthOf(next.value);
    text.remove_prefix(next.bytes);
  }
  return width;
}

class TextTable::Impl {
 public:
  Impl(std::vector<TextColumn> columns, const Options& options, TextSink sink)
      : columns_(std::move(columns)), options_(options), sink_(std::move(sink)), widths_(columns_.size()) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].name = Printable(std::move(columns_[i].name));
      widths_[i] = std::max<size_t>(DisplayWidth(columns_[i].name), 1);
    }
  }

  Result<void> AddRow(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    for (auto& cell : cells) cell = Printable(std::move(cell));
    ++rows_;
    if (started_) return WriteRow(cells);
    for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], DisplayWidth(cells[i]));
    held_.push_back(std::move(cells));
    return held_.size() >= options_.sample_rows ? Start() : Result<void>();
  }

  Result<void> Finish() { return started_ ? Result<void>() : Start(); }
  uint64_t rows() const { return rows_; }

 private:
  Result<void> Start() {
    started_ = true;
    FitWidths();
    std::vector<std::string> header, rule;
    for (size_t i = 0; i < columns_.size(); ++i) {
      header.push_back(columns_[i].name);
      rule.emplace_back(widths_[i], '-');
    }
    if (!columns_.empty()) {
      DELENDA_TRY(WriteRow(header));
      DELENDA_TRY(WriteRow(rule));
    }
    for (const auto& cells : held_) DELENDA_TRY(WriteRow(cells));
    held_.clear();
    return {};
  }

  // Take from the widest column that may be cut until the line fits.
  void FitWidths() {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].right) widths_[i] = std::min(widths_[i], options_.max_cell);
    }
    if (options_.width == 0 || columns_.empty()) return;
    size_t total = kGap * (columns_.size() - 1);
    for (const size_t width : widths_) total += width;
    while (total > options_.width) {
      size_t widest = columns_.size();
      for (size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].right || widths_[i] <= kNarrowest) continue;
        if (widest == columns_.size() || widths_[i] > widths_[widest]) widest = i;
      }
      if (widest == columns_.size()) return;  // all are as narrow as can be: the line is too long
      --widths_[widest];
      --total;
    }
  }

  Result<void> WriteRow(const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool last = i + 1 == cells.size();
      const size_t width = DisplayWidth(cells[i]);
      if (width > widths_[i] && !columns_[i].right) {
        const std::string cut = columns_[i].keep_end
                                    ? fmt::format("{}{}", kEllipsis, End(cells[i], widths_[i] - 1))
                                    : fmt::format("{}{}", Beginning(cells[i], widths_[i] - 1), kEllipsis);
        line += cut;
        if (!last) line.append(widths_[i] - std::min(DisplayWidth(cut), widths_[i]), ' ');
      } else {
        const size_t fill = widths_[i] - std::min(width, widths_[i]);
        if (columns_[i].right) line.append(fill, ' ');
        line += cells[i];
        if (!columns_[i].right && !last) line.append(fill, ' ');
      }
      if (!last) line.append(kGap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    return sink_(line);
  }

  std::vector<TextColumn> columns_;
  Options options_;
  TextSink sink_;
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> held_;
  bool started_ = false;
  uint64_t rows_ = 0;
};

TextTable::TextTable(std::vector<TextColumn> columns, const Options& options, TextSink sink)
    : impl_(std::make_unique<Impl>(std::move(columns), options, std::move(sink))) {}
TextTable::TextTable(TextTable&&) noexcept = default;
TextTable& TextTable::operator=(TextTable&&) noexcept = default;
TextTable::~TextTable() = default;
Result<void> TextTable::AddRow(std::vector<std::string> cells) { return impl_->AddRow(std::move(cells)); }
Result<void> TextTable::Finish() { return impl_->Finish(); }
uint64_t TextTable::rows() const { return impl_->rows(); }

}  // namespace delenda
