#include "cli/names.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <optional>

namespace delenda::cli {
namespace {

std::unexpected<Error> Refuse(std::string message) {
  return std::unexpected(Error(ErrorKind::kInvalidArgument, std::move(message)));
}

std::string_view TrimBlanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Takes pieces off the front of a time.
class TimeCursor {
 public:
  explicit TimeCursor(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Exactly `count` digits, from `low` to `high`.
  std::optional<int> Number(size_t count, int low, int high) {
    int value = 0;
    if (rest_.size() < count) return std::nullopt;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + count, value);
    if (error != std::errc() || end != rest_.data() + count || value < low || value > high || rest_[0] == '-') {
      return std::nullopt;
    }
    rest_.remove_prefix(count);
    return value;
  }
  // Digits of a fraction as milliseconds; what is finer is dropped.
  std::optional<int> Millis() {
    int value = 0, digits = 0;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1), ++digits) {
      if (digits < 3) value = value * 10 + (rest_[0] - '0');
    }
    for (int i = digits; i < 3; ++i) value *= 10;
    return digits == 0 ? std::nullopt : std::optional(value);
  }

 private:
  std::string_view rest_;
};

std::optional<int64_t> IsoTime(std::string_view text) {
  using std::chrono::days, std::chrono::milliseconds, std::chrono::minutes, std::chrono::hours, std::chrono::seconds;
  TimeCursor cursor(text);
  const auto year = cursor.Number(4, 0, 9999);
  if (!year || !cursor.Take('-')) return std::nullopt;
  const auto month = cursor.Number(2, 1, 12);
  if (!month || !cursor.Take('-')) return std::nullopt;
  const auto day = cursor.Number(2, 1, 31);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  milliseconds time = std::chrono::sys_days(date).time_since_epoch();
  if (cursor.AtEnd()) return time.count();
  if (!cursor.Take('T') && !cursor.Take('t') && !cursor.Take(' ')) return std::nullopt;
  const auto hour = cursor.Number(2, 0, 23);
  if (!hour || !cursor.Take(':')) return std::nullopt;
  const auto minute = cursor.Number(2, 0, 59);
  if (!minute) return std::nullopt;
  time += hours(*hour) + minutes(*minute);
  if (cursor.Take(':')) {
    const auto second = cursor.Number(2, 0, 59);
    if (!second) return std::nullopt;
    time += seconds(*second);
    if (cursor.Take('.')) {
      const auto millis = cursor.Millis();
      if (!millis) return std::nullopt;
      time += milliseconds(*millis);
    }
  }
  if (cursor.Take('Z') || cursor.Take('z')) return cursor.AtEnd() ? std::optional(time.count()) : std::nullopt;
  const bool east = cursor.Take('+');
  if (east || cursor.Take('-')) {
    const auto offset_hour = cursor.Number(2, 0, 18);
    cursor.Take(':');
    const auto offset_minute = cursor.Number(2, 0, 59);
    if (!offset_hour || !offset_minute) return std::nullopt;
    const milliseconds offset = hours(*offset_hour) + minutes(*offset_minute);
    time += east ? -offset : offset;
  }
  return cursor.AtEnd() ? std::optional(time.count()) : std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> SplitNames(std::string_view text) {
  std::vector<std::string> names;
  size_t at = 0;
  while (true) {
    std::string name;
    while (at < text.size() && text[at] == ' ') ++at;
    if (at < text.size() && (text[at] == '"' || text[at] == '`')) {
      const char quote = text[at++];
      while (true) {
        if (at >= text.size()) return Refuse(fmt::format("a name in '{}' has no closing {}", text, quote));
        if (text[at] == quote) {
          if (at + 1 >= text.size() || text[at + 1] != quote) break;
          ++at;
        }
        name += text[at++];
      }
      ++at;
      while (at < text.size() && text[at] == ' ') ++at;
      if (at < text.size() && text[at] != ',') return Refuse(fmt::format("expected ',' at byte {} of '{}'", at, text));
    } else {
      const size_t end = std::min(text.find(',', at), text.size());
      name = TrimBlanks(text.substr(at, end - at));
      at = end;
    }
    if (name.empty()) return Refuse(fmt::format("an empty name in the list '{}'", text));
    names.push_back(std::move(name));
    if (at >= text.size()) return names;
    ++at;
  }
}

Result<std::pair<std::string, std::string>> ParseAssignment(std::string_view text) {
  size_t at = 0;
  for (char quote = 0; at < text.size() && (quote != 0 || text[at] != '='); ++at) {
    if (quote != 0) {
      if (text[at] == quote) quote = 0;
    } else if (text[at] == '"' || text[at] == '`') {
      quote = text[at];
    }
  }
  auto names = SplitNames(text.substr(0, at));
  if (!names) return std::unexpected(std::move(names).error());
  std::string value(at < text.size() ? TrimBlanks(text.substr(at + 1)) : "");
  if (names->size() != 1 || value.empty()) return Refuse(fmt::format("'{}' is not COLUMN=VALUE", text));
  return std::pair(std::move(names->front()), std::move(value));
}

Result<int64_t> ParseTime(std::string_view text) {
  int64_t milliseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  if (error == std::errc() && end == text.data() + text.size()) return milliseconds;
  if (const auto time = IsoTime(text)) return *time;
  return Refuse(
      fmt::format("'{}' is no time: write 2024-02-29, 2024-02-29T12:30:00Z, 2024-02-29T14:30:00+02:00, or milliseconds "
                  "since 1970",
                  text));
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  using std::chrono::milliseconds;
  static constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  for (const auto& [name, factor] : kUnits) {
    constexpr int64_t kMost = 1'000'000'000;  // keeps the product within bounds
    if (error == std::errc() && unit == name && number > 0 && number <= kMost) return milliseconds(number * factor);
  }
  return Refuse(fmt::format("'{}' is no duration: write 500ms, 5s, 1m or 2h", text));
}

Result<SnapshotChoice> ParseSnapshot(std::string_view text) {
  SnapshotChoice choice;
  if (text.empty()) return Refuse("a snapshot id, a branch or tag, or @TIME is expected");
  if (text.starts_with('@')) {
    const auto time = ParseTime(text.substr(1));
    if (!time) return std::unexpected(time.error());
    choice.as_of_ms = *time;
    return choice;
  }
  if (text.find_first_not_of("0123456789") != std::string_view::npos) {
    choice.ref = std::string(text);
    return choice;
  }
  int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc()) return Refuse(fmt::format("'{}' is no snapshot id: it does not fit 64 bits", text));
  choice.snapshot_id = id;
  return choice;
}

std::string TimeText(int64_t milliseconds) {
  using namespace std::chrono;
  const sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(milliseconds)};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const auto rest = (time - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / 3'600'000,
                     rest / 60'000 % 60, rest / 1'000 % 60, rest % 1'000);
}

}  // namespace delenda::cli
