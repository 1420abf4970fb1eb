#include "delenda/formats/dv/z85.h"

#include <array>
#include <cstdint>

namespace delenda::dv {

namespace {

// ZeroMQ RFC 32.
constexpr std::string_view kZ85Alphabet =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
constexpr uint32_t kZ85Base = 85;
constexpr size_t kZ85GroupChars = 5;
constexpr size_t kZ85GroupBytes = 4;
constexpr uint8_t kZ85Invalid = 0xff;
static_assert(kZ85Alphabet.size() == kZ85Base);

constexpr std::array<uint8_t, 256> MakeZ85Values() {
  std::array<uint8_t, 256> values{};
  values.fill(kZ85Invalid);
  for (size_t i = 0; i < kZ85Alphabet.size(); ++i) {
    values[static_cast<unsigned char>(kZ85Alphabet[i])] = static_cast<uint8_t>(i);
  }
  return values;
}
constexpr std::array<uint8_t, 256> kZ85Values = MakeZ85Values();

}  // namespace

Result<Bytes> DecodeZ85(std::string_view text) {
  if (text.size() % kZ85GroupChars != 0) {
    return Corrupt("Z85 text has a wrong length: expected a multiple of {} characters, found {}", kZ85GroupChars,
                   text.size());
  }
  ByteWriter out;
  for (size_t group = 0; group < text.size(); group += kZ85GroupChars) {
    uint64_t value = 0;
    for (size_t i = group; i < group + kZ85GroupChars; ++i) {
      const auto character = static_cast<unsigned char>(text[i]);
      if (kZ85Values[character] == kZ85Invalid) {
        return Corrupt("Z85 text holds a character outside the alphabet: at character {}, found byte 0x{:02x}", i,
                       character);
      }
      value = value * kZ85Base + kZ85Values[character];
    }
    // 85^5 exceeds 2^32: cutting the value off would decode wrong bytes without a word.
    if (value > UINT32_MAX) {
      return Corrupt("Z85 group exceeds 32 bits: at character {}, found {}", group, value);
    }
    out.WriteBig(static_cast<uint32_t>(value));
  }
  return std::move(out).Finish();
}

Result<std::string> EncodeZ85(ByteView bytes) {
  if (bytes.size() % kZ85GroupBytes != 0) {
    return InvalidArgument("bytes for Z85 have a wrong length: expected a multiple of {}, found {}", kZ85GroupBytes,
                           bytes.size());
  }
  std::string text(bytes.size() / kZ85GroupBytes * kZ85GroupChars, '\0');
  char* at = text.data();
  for (size_t group = 0; group < bytes.size(); group += kZ85GroupBytes, at += kZ85GroupChars) {
    auto value = LoadUnsigned<std::endian::big, uint32_t>(bytes.data() + group);
    for (size_t i = kZ85GroupChars; i-- > 0; value /= kZ85Base) at[i] = kZ85Alphabet[value % kZ85Base];
  }
  return text;
}

}  // namespace delenda::dv
