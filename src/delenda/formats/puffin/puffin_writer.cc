#include "delenda/formats/puffin/puffin_writer.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "delenda/formats/puffin/puffin_footer.h"

namespace delenda::puffin {

namespace {

// Keeps the order of members: footers come out as the reference implementation writes them.
using OrderedJson = nlohmann::ordered_json;

void AppendBytes(Bytes& out, ByteView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

Result<void> CheckTexts(const PuffinWriter::PropertyList& properties) {
  for (const auto& [key, value] : properties) {
    if (!IsValidUtf8(key) || !IsValidUtf8(value)) return InvalidArgument("a Puffin property is not valid UTF-8");
  }
  return {};
}

OrderedJson PropertiesToJson(const PuffinWriter::PropertyList& properties) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [key, value] : properties) json[key] = value;
  return json;
}

}  // namespace

PuffinWriter::PuffinWriter() { AppendBytes(file_, AsBytes(kMagic)); }

void PuffinWriter::SetProperty(std::string key, std::string value) {
  file_properties_.emplace_back(std::move(key), std::move(value));
}

WrittenBlob PuffinWriter::Append(ByteView blob, BlobInfo info) {
  const WrittenBlob place{.offset = file_.size(), .length = blob.size()};
  AppendBytes(file_, blob);
  entries_.push_back({.info = std::move(info), .place = place});
  return place;
}

Result<WrittenBlob> PuffinWriter::AddDeletionVector(ByteView blob, std::string_view referenced_data_file,
                                                    uint64_t cardinality) {
  if (referenced_data_file.empty())
    return InvalidArgument("a deletion vector without the data file that it belongs to");
  if (!IsValidUtf8(referenced_data_file))
    return InvalidArgument("the path of a deletion vector's data file is no UTF-8");
  if (!vectors_of_.emplace(referenced_data_file).second) {
    return InvalidArgument("a second deletion vector in one Puffin file for {}", referenced_data_file);
  }
  // Ids of a snapshot are not known before the commit, and a retry would change them.
  BlobInfo info{.type = std::string(kDeletionVectorV1), .fields = {kRowPositionFieldId}};
  info.properties = {{std::string(kReferencedDataFile), std::string(referenced_data_file)},
                     {std::string(kCardinality), std::to_string(cardinality)}};
  return Append(blob, std::move(info));
}

Result<WrittenBlob> PuffinWriter::AddBlob(ByteView blob, const BlobInfo& info) {
  if (info.type == kDeletionVectorV1) return InvalidArgument("deletion vectors are added by AddDeletionVector");
  if (info.type.empty() || !IsValidUtf8(info.type)) return InvalidArgument("a Puffin blob needs a type in UTF-8");
  DELENDA_TRY(CheckTexts(info.properties));
  return Append(blob, info);
}

Result<Bytes> PuffinWriter::Finish() && {
  DELENDA_TRY(CheckTexts(file_properties_));
  OrderedJson blobs = OrderedJson::array();
  for (const Entry& entry : entries_) {
    OrderedJson blob = {{"type", entry.info.type},
                        {"fields", entry.info.fields},
                        {"snapshot-id", entry.info.snapshot_id},
                        {"sequence-number", entry.info.sequence_number},
                        {"offset", entry.place.offset},
                        {"length", entry.place.length}};
    if (!entry.info.properties.empty()) blob["properties"] = PropertiesToJson(entry.info.properties);
    blobs.push_back(std::move(blob));
  }
  OrderedJson footer = {{"blobs", std::move(blobs)}};
  if (!file_properties_.empty()) footer["properties"] = PropertiesToJson(file_properties_);
  const std::string payload = footer.dump();
  if (payload.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return InvalidArgument("the footer of {} blobs has {} bytes, more than its length field can say", entries_.size(),
                           payload.size());
  }
  AppendBytes(file_, AsBytes(kMagic));
  AppendBytes(file_, AsBytes(payload));
  ByteWriter tail;
  tail.WriteLittle(static_cast<uint32_t>(payload.size()));
  tail.WriteLittle(uint32_t{0});  // flags: the payload is not compressed
  AppendBytes(file_, tail.view());
  AppendBytes(file_, AsBytes(kMagic));
  return std::move(file_);
}

}  // namespace delenda::puffin
