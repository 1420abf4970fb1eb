// Defaults of the sanitizer run-times. Arrow's library comes without instrumentation: it grows and shrinks vectors
// whose red zones only our side knows, so container overflow checks report what is not there.

extern "C" {
const char* __asan_default_options();
const char* __ubsan_default_options();
const char* __tsan_default_options();
const char* __tsan_default_suppressions();

const char* __asan_default_options() { return "detect_container_overflow=0:strict_string_checks=1"; }
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
const char* __tsan_default_options() { return "halt_on_error=1:second_deadlock_stack=1"; }
// Arrow's own synchronisation is invisible to the sanitizer, and so is that of the allocator inside it at exit.
const char* __tsan_default_suppressions() {
  return "called_from_lib:libarrow.so\n"
         "called_from_lib:libparquet.so\n"
         "called_from_lib:libarrow_compute.so\n"
         "mutex:_mi_\n"
         "race:_mi_\n";
}
}
