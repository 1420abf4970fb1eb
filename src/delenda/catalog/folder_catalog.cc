#include <utility>

#include "delenda/catalog/catalog.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/location.h"

namespace delenda::catalog {
namespace {

// Tables at WAREHOUSE/NAMESPACE/…/TABLE. There is nothing but the folders.
class FolderCatalog final : public Catalog {
 public:
  FolderCatalog(std::string warehouse, std::shared_ptr<io::FileIO> io)
      : warehouse_(std::move(warehouse)), io_(std::move(io)) {}

  // Whether there is a table shows when its metadata is read.
  Result<std::string> Locate(const TableName& name) override { return FolderOf(name); }
  Result<std::string> DefaultLocation(const TableName& name) override { return FolderOf(name); }

  Result<std::string> CreateTable(const TableName& name, const std::string& location, std::string_view text,
                                  bool gzip) override {
    if (location != FolderOf(name))
      return InvalidArgument("a folder catalog has the table {}.{} at {}, not at {}", name.Namespace(), name.table,
                             FolderOf(name), location);
    return CreateInFolder(*io_, location, text, gzip);
  }

  Result<void> Register(const TableName&, const std::string&) override {
    return NotSupported(
        "a folder catalog holds the tables that lie in its folders: use an SQL catalog to register tables that lie "
        "elsewhere");
  }

  Result<std::vector<TableName>> List() override {
    std::vector<TableName> tables;
    std::vector<std::string> names;
    DELENDA_TRY(ListBelow(warehouse_, names, tables));
    return tables;
  }

  Result<void> Drop(const TableName& name) override {
    const std::string folder = io::Join(FolderOf(name), "metadata");
    const std::string current = DELENDA_TRY(iceberg::FindMetadataFile(*io_, FolderOf(name)));
    // The newest first: with it gone, and no hint, no older state can pass for the table.
    const auto files = DELENDA_TRY(io_->List(folder));
    DELENDA_TRY(io_->Delete(current));
    for (const auto& file : files) {
      const auto base = io::Basename(file.path);
      if (file.path != current && iceberg::MetadataVersion(base)) DELENDA_TRY(io_->Delete(file.path));
    }
    for (const auto& file : files) {
      if (io::Basename(file.path) == iceberg::kVersionHintName) DELENDA_TRY(io_->Delete(file.path));
    }
    return {};
  }

  Result<void> Rename(const TableName&, const TableName&) override {
    return NotSupported("tables of a folder catalog can't be renamed: their metadata holds the folder's name");
  }

  Result<std::unique_ptr<CommitPoint>> Open(const TableName& name) override {
    DELENDA_TRY(iceberg::FindMetadataFile(*io_, FolderOf(name)));
    return MakeFolderCommitPoint(io_, FolderOf(name));
  }

 private:
  std::string FolderOf(const TableName& name) const {
    std::string location = warehouse_;
    for (const auto& part : name.names) location = io::Join(location, part);
    return io::Join(location, name.table);
  }

  // A folder with metadata files is a table; any other a namespace.
  Result<void> ListBelow(const std::string& folder, std::vector<std::string>& names,
                         std::vector<TableName>& tables) const {
    constexpr size_t kDeepest = 16;  // a link that leads back up must not be followed for ever
    if (names.size() > kDeepest) return {};
    const auto children = io_->List(folder);
    if (!children) {
      if (children.error().kind() == ErrorKind::kNotFound) return {};
      return std::unexpected(children.error());
    }
    for (const auto& child : *children) {
      if (!child.is_directory) continue;
      const std::string name(io::Basename(child.path));
      const auto metadata = io_->List(io::Join(child.path, "metadata"));
      bool is_table = false;
      for (size_t i = 0; metadata && i < metadata->size() && !is_table; ++i)
        is_table = iceberg::MetadataVersion(io::Basename((*metadata)[i].path)).has_value();
      if (is_table) {
        if (!names.empty()) tables.push_back({.catalog = {}, .names = names, .table = name});
        continue;
      }
      names.push_back(name);
      DELENDA_TRY(ListBelow(child.path, names, tables));
      names.pop_back();
    }
    return {};
  }

  std::string warehouse_;
  std::shared_ptr<io::FileIO> io_;
};

}  // namespace

std::unique_ptr<Catalog> MakeFolderCatalog(std::string warehouse, std::shared_ptr<io::FileIO> io) {
  return std::make_unique<FolderCatalog>(std::move(warehouse), std::move(io));
}

}  // namespace delenda::catalog
