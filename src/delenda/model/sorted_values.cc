#include "delenda/model/sorted_values.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

namespace delenda {
namespace {

bool DatumLess(const Datum& a, const Datum& b) { return CompareDatum(a, b) < 0; }

template <typename T>
void SortDistinct(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
  values.shrink_to_fit();
}

// The values of `sorted` within the bounds, either of which may be missing.
template <typename T, typename Less>
std::pair<size_t, size_t> IndexesBetween(const std::vector<T>& sorted, const T* lower, const T* upper,
                                         const Less& less) {
  const auto first = lower == nullptr ? sorted.begin() : std::lower_bound(sorted.begin(), sorted.end(), *lower, less);
  const auto last = upper == nullptr ? sorted.end() : std::upper_bound(first, sorted.end(), *upper, less);
  return {static_cast<size_t>(first - sorted.begin()), static_cast<size_t>(last - sorted.begin())};
}

}  // namespace

SortedValues SortedValues::Of(std::vector<Datum> values) {
  SortedValues set;
  set.has_null_ = std::ranges::any_of(values, IsNull);
  set.has_nan_ = std::ranges::any_of(values, IsNan);
  std::erase_if(values, [](const Datum& value) { return IsNull(value) || IsNan(value); });
  if (!values.empty() && std::holds_alternative<int64_t>(values.front())) {
    set.integers_.reserve(values.size());
    for (const Datum& value : values) set.integers_.push_back(std::get<int64_t>(value));
    SortDistinct(set.integers_);
    return set;
  }
  if (!values.empty() && std::holds_alternative<std::string>(values.front())) {
    std::vector<std::string> texts;  // sorted without a look at the alternative for each comparison
    texts.reserve(values.size());
    for (Datum& value : values) texts.push_back(std::move(std::get<std::string>(value)));
    SortDistinct(texts);
    set.others_.assign(std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end()));
    return set;
  }
  std::ranges::sort(values, DatumLess);
  const auto repeated =
      std::ranges::unique(values, [](const Datum& a, const Datum& b) { return CompareDatum(a, b) == 0; });
  values.erase(repeated.begin(), repeated.end());
  set.others_ = std::move(values);
  return set;
}

SortedValues SortedValues::OfIntegers(std::vector<int64_t> values, bool has_null) {
  SortedValues set;
  set.has_null_ = has_null;
  SortDistinct(values);
  set.integers_ = std::move(values);
  return set;
}

uint64_t SortedValues::memory() const {
  uint64_t bytes = integers_.capacity() * sizeof(int64_t) + others_.capacity() * sizeof(Datum);
  for (const Datum& value : others_) {
    if (const auto* text = std::get_if<std::string>(&value)) bytes += text->capacity();
  }
  return bytes;
}

bool SortedValues::CouldLieIn(const ColumnStats& stats) const {
  if (stats.value_count && *stats.value_count == 0) return false;
  if (has_null_ && stats.null_count != 0) return true;
  // NaN is not in the bounds.
  if (has_nan_ && stats.nan_count != 0) return true;
  if (size() == 0) return false;
  // Every row is NULL.
  if (stats.value_count && stats.null_count && *stats.null_count >= *stats.value_count) return false;
  const auto [first, last] = Between(stats);
  return first < last;
}

std::pair<size_t, size_t> SortedValues::Between(const ColumnStats& stats) const {
  if (size() == 0) return {0, 0};
  // A bound of another kind than the values (a column whose type changed) says nothing.
  if (!integers_.empty()) {
    const auto bound = [](const std::optional<Datum>& datum) {
      return datum ? std::get_if<int64_t>(&*datum) : nullptr;
    };
    return IndexesBetween(integers_, bound(stats.lower), bound(stats.upper), std::less<>());
  }
  const auto bound = [&](const std::optional<Datum>& datum) -> const Datum* {
    // NaN as a bound (old writers) says nothing of the other values.
    return datum && datum->index() == others_.front().index() && !IsNan(*datum) ? &*datum : nullptr;
  };
  return IndexesBetween(others_, bound(stats.lower), bound(stats.upper), DatumLess);
}

bool SortedValues::Contains(const Datum& value) const {
  if (IsNull(value)) return has_null_;
  if (IsNan(value)) return has_nan_;
  if (size() == 0) return false;
  if (value.index() != At(0).index()) return true;  // not of the values' type: it cannot be told
  if (!integers_.empty()) return std::ranges::binary_search(integers_, std::get<int64_t>(value));
  return std::binary_search(others_.begin(), others_.end(), value, DatumLess);
}

}  // namespace delenda
