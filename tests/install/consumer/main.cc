#include <delenda/result.h>

#include <cstdio>

int main() {
  const delenda::Result<int> result = std::unexpected(delenda::Error(delenda::ErrorKind::kNotFound, "nothing here"));
  std::printf("%s\n", result.error().ToString().c_str());
  return result.has_value() ? 1 : 0;
}
