// Values of Arrow arrays as text, as JSON lines and tables show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace delenda::api {

// 2024-02-29; -0044-03-15 and +12345-01-01 outside the years 0 to 9999 (ISO 8601).
void AppendDate(std::string& out, int64_t days);

// 01:02:03.000004, as many digits behind the point as `units_per_second` has zeros (1: no point). Values outside a day,
// which no engine writes, keep their sign and count hours on.
void AppendTime(std::string& out, int64_t value, int64_t units_per_second);

// 2024-02-29T01:02:03.000004, with `Z` if it has a zone. At least six digits of the second.
void AppendTimestamp(std::string& out, int64_t value, int64_t units_per_second, bool has_zone);

// Shortest text that reads back as the same float; always with a point or an exponent. As JSON: NaN and infinities
// quoted.
void AppendFloat(std::string& out, float value);

void AppendHex(std::string& out, std::string_view bytes);

// 16 bytes, big-endian: 123e4567-e89b-12d3-a456-426614174000.
void AppendUuid(std::string& out, std::string_view bytes);

}  // namespace delenda::api
