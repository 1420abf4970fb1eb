// Z85 (ZeroMQ RFC 32): four bytes as five printable characters. Delta stores inline vectors and UUIDs so.
#pragma once

#include <string>
#include <string_view>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::dv {

// Corrupt if the length is no multiple of 5, a character is outside the alphabet, or a group exceeds 32 bits.
Result<Bytes> DecodeZ85(std::string_view text);

// InvalidArgument if the length is no multiple of 4.
Result<std::string> EncodeZ85(ByteView bytes);

}  // namespace delenda::dv
