#include "delenda/read/change_pairing.h"
namespace delenda::read {
Result<std::unique_ptr<ChangePairing>> PairChanges(std::unique_ptr<BatchSource>, std::shared_ptr<arrow::Schema>,
                                                   PairingOptions) {
  return NotSupported("not yet");
}
}  // namespace delenda::read
