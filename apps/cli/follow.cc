#include "cli/session.h"
namespace delenda::cli {
Result<void> RunFollow(Session&) { return {}; }
}  // namespace delenda::cli
