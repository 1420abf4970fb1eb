// All public headers, and nothing else before them: whatever they drag in becomes part of every user's program.

#include "all_public_headers.h"

// Macros of third-party libraries.
#if defined(ARROW_EXPORT) || defined(ARROW_VERSION) || defined(ARROW_CONCAT) || defined(PARQUET_EXPORT)
#error "a public header includes Arrow or Parquet"
#endif
#if defined(FMT_VERSION)
#error "a public header includes fmt"
#endif
#if defined(NLOHMANN_JSON_VERSION_MAJOR)
#error "a public header includes nlohmann-json"
#endif
#if defined(ROARING_VERSION) || defined(LIBDEFLATE_VERSION_STRING) || defined(ZSTD_VERSION_NUMBER) || \
    defined(LZ4_VERSION_NUMBER) || defined(SNAPPY_VERSION)
#error "a public header includes a codec library"
#endif

// Macros of our own that are for the library's files only.
#if defined(DELENDA_TRY) || defined(DELENDA_TRY_IMPL) || defined(DELENDA_CONCAT) || defined(DELENDA_CONCAT_INNER)
#error "a public header includes a private one"
#endif

#include <cstdio>
#include <string>
#include <type_traits>

// Names of third-party libraries: if one were visible, declaring it differently would not compile.
struct arrow {};
struct parquet {};
struct fmt {};
struct nlohmann {};
struct roaring_bitmap_s;
struct CLI {};

int main() {
  static_assert(std::is_same_v<delenda::Result<int>, std::expected<int, delenda::Error>>);
  const delenda::Error error(delenda::ErrorKind::kCorrupt, "message");
  if (error.ToString() != "corrupt: message") {
    std::fprintf(stderr, "unexpected text: %s\n", error.ToString().c_str());
    return 1;
  }
  return 0;
}
