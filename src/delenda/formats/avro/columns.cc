#include "delenda/formats/avro/columns.h"

#include <algorithm>
#include <array>

#include "delenda/formats/avro/program.h"

namespace delenda::avro {

std::string_view StorageName(Storage storage) {
  static constexpr std::array<std::string_view, 7> kNames = {"absent", "null", "int", "real", "text", "record", "list"};
  return kNames[static_cast<size_t>(storage)];
}

const Column* Column::Child(int32_t id) const {
  if (id == kNoId) return nullptr;
  auto found = std::ranges::find(children_, id, &Column::id_);
  if (found != children_.end()) return *found;
  // A list's element record takes no step in the path.
  return storage_ == Storage::kList && children_.size() == 1 ? children_[0]->Child(id) : nullptr;
}

const Column* Column::ChildNamed(std::string_view name) const {
  auto found = std::ranges::find(children_, name, &Column::name_);
  if (found != children_.end()) return *found;
  return storage_ == Storage::kList && children_.size() == 1 ? children_[0]->ChildNamed(name) : nullptr;
}

// Makes room for `count` rows more. The values themselves are written by the decoder.
void Column::Grow(size_t count) {
  if (count == 0) return;
  const size_t rows = size_ + count;
  if (maybe_null_) valid_.Reserve(rows, size_);
  switch (storage_) {
    case Storage::kInt: ints_.Reserve(rows, size_); break;
    case Storage::kReal: reals_.Reserve(rows, size_); break;
    case Storage::kText: texts_.Reserve(rows, size_); break;
    case Storage::kList:
      offsets_.Reserve(rows + 1, size_ == 0 ? 0 : size_ + 1);
      if (size_ == 0) offsets_.data()[0] = 0;
      break;
    case Storage::kNull: std::memset(valid_.data() + size_, 0, count); break;
    case Storage::kRecord:
    case Storage::kAbsent: break;
  }
  size_ = rows;
}

Columns::Columns() = default;
Columns::Columns(Columns&&) noexcept = default;
Columns& Columns::operator=(Columns&&) noexcept = default;
Columns::~Columns() = default;

void Columns::Clear() {
  rows_ = 0;
  for (Column& column : all_) column.size_ = column.filled_ = 0;
  buffers_.clear();
}

std::vector<std::shared_ptr<const void>> Columns::buffers() const {
  std::vector<std::shared_ptr<const void>> all = buffers_;
  all.push_back(schema_);  // the symbols of enums
  return all;
}

Result<const Column*> Columns::Required(std::initializer_list<int32_t> path, Storage storage) const {
  return Find(path, storage, /*required=*/true);
}

Result<const Column*> Columns::Optional(std::initializer_list<int32_t> path, Storage storage) const {
  return Find(path, storage, /*required=*/false);
}

Result<const Column*> Columns::Find(std::initializer_list<int32_t> path, Storage storage, bool required) const {
  const Column* at = nullptr;
  std::string name;
  for (const int32_t id : path) {
    if (at == nullptr) {
      auto found = std::ranges::find(fields_, id, &Column::id_);
      at = found == fields_.end() ? nullptr : *found;
    } else if (const Column* child = at->Child(id); child != nullptr || !at->absent()) {
      at = child;
    } else {
      break;  // below an absent field that was wanted with everything in it: absent as well
    }
    if (at == nullptr) return InternalError("Avro column {} of path {} was not asked for", id, fmt::join(path, "."));
    name += name.empty() ? at->name() : "." + at->name();
  }
  if (at == nullptr) return InternalError("empty path to an Avro column");
  if (at->absent()) {
    if (!required) return at;
    return Corrupt("the Avro file's schema lacks the required field {} (id {})", name, fmt::join(path, "."));
  }
  if (at->storage() != storage) {
    return Corrupt("Avro field {} (id {}) is of type {}, expected {} values", name, fmt::join(path, "."),
                   at->type() == nullptr ? "string" : KindName(at->type()->kind), StorageName(storage));
  }
  return at;
}

}  // namespace delenda::avro
