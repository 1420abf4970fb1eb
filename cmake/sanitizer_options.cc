// Defaults of the sanitizer run-times. Arrow's library comes without instrumentation: it grows and shrinks vectors
// whose red zones only our side knows, so container overflow checks report what is not there.
#include <cstdlib>

extern "C" {
const char* __asan_default_options();
const char* __ubsan_default_options();
const char* __tsan_default_options();
const char* __tsan_default_suppressions();

const char* __asan_default_options() { return "detect_container_overflow=0:strict_string_checks=1"; }
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
// The order of locks is not watched: each wait for a future of Arrow, whose unlocking is invisible, looks like a mutex
// that stays locked for ever, and the detector ends the program at the 64th.
const char* __tsan_default_options() { return "halt_on_error=1:detect_deadlocks=0"; }
// Arrow's own synchronisation is invisible to the sanitizer. So are the reference counts that its code lets go of: an
// object that one thread has read and another one deletes looks like a race, hence all accesses to objects of Arrow,
// and the end of an input that we lend to it. At exit its allocator unlocks a mutex that it never locked in sight; so
// do waits for its futures, which lie in the standard library.
const char* __tsan_default_suppressions() {
  return "called_from_lib:libarrow.so\n"
         "called_from_lib:libparquet.so\n"
         "called_from_lib:libarrow_compute.so\n"
         "race:arrow::\n"
         "race:delenda::parquet::InputAdapter::~InputAdapter\n"
         "mutex:_dl_call_fini\n"
         "mutex:std::condition_variable::wait\n";
}

// The allocator inside Arrow hands memory from thread to thread unseen, so buffers that are freed and taken again look
// like races. The system's allocator is watched: races go away, and overflows of Arrow's buffers are found.
__attribute__((constructor)) void delenda_use_system_allocator() { setenv("ARROW_DEFAULT_MEMORY_POOL", "system", 0); }
}
