// Words of the JSON form of plans that both its writer and its reader know.
#pragma once

#include <string_view>
#include <utility>

#include "delenda/model/content_file.h"
#include "delenda/plan/scan_task.h"

namespace delenda::plan::names {

inline constexpr std::string_view kDeletionVector = "deletionVector";
inline constexpr std::string_view kPositionDeletes = "positionDeletes";
inline constexpr std::string_view kEqualityDeletes = "equalityDeletes";

inline constexpr std::string_view kField = "field";
inline constexpr std::string_view kNameMapping = "nameMapping";

// Columns that the reader makes.
inline constexpr std::pair<OutputColumn::Kind, std::string_view> kMetadataColumns[] = {
    {OutputColumn::Kind::kFilePath, "filePath"}, {OutputColumn::Kind::kPosition, "position"},
    {OutputColumn::Kind::kRowId, "rowId"},       {OutputColumn::Kind::kLastUpdated, "lastUpdatedSequenceNumber"},
    {OutputColumn::Kind::kSpecId, "specId"},     {OutputColumn::Kind::kPartition, "partition"},
    {OutputColumn::Kind::kDeleted, "deleted"},
};

// Kinds of partition values that are not in the form of their type.
inline constexpr std::string_view kBoolean = "boolean";
inline constexpr std::string_view kLong = "long";
inline constexpr std::string_view kFloat = "float";
inline constexpr std::string_view kDouble = "double";
inline constexpr std::string_view kDecimal = "decimal";  // unscaled
inline constexpr std::string_view kHex = "hex";

}  // namespace delenda::plan::names
