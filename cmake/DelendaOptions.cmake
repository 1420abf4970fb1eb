# Options, compiler flags and build-wide settings.

include(CMakeDependentOption)
include(GNUInstallDirs)

option(BUILD_SHARED_LIBS "Build the library as a shared one" OFF)
option(DELENDA_BUILD_CLI "Build the command line program" ON)
option(DELENDA_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(DELENDA_BUILD_UNIT_TESTS "Build the tests of single folders (make test runs them under sanitizers alone)" ON)
option(DELENDA_BUILD_FUZZ "Build the fuzz targets (with DELENDA_LIBFUZZER) or their replayers" ${PROJECT_IS_TOP_LEVEL})
option(DELENDA_BUILD_BENCH "Build the benchmarks" OFF)
option(DELENDA_INTEROP "Test with Spark, PyIceberg and DuckDB, from the package registries" OFF)
option(DELENDA_LIBFUZZER "Link the fuzz targets with libFuzzer; needs clang" OFF)
option(DELENDA_UNITY "Compile the files of a folder in batches" ON)
option(DELENDA_PCH "Precompile the heavy headers" ON)
option(DELENDA_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(DELENDA_HEADER_CHECKS "Compile every header on its own" OFF)
set(DELENDA_UNITY_BATCH 8 CACHE STRING "Files in one batch of a unity build")
set(DELENDA_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")
set(DELENDA_VENV "${PROJECT_SOURCE_DIR}/.venv" CACHE PATH "Virtual environment that holds the pyarrow wheel")
set(DELENDA_GOLDEN "" CACHE PATH "Folder of upstream golden data; its tests exist only when it is set")
if(DEFINED ENV{DELENDA_GOLDEN})
  set_property(CACHE DELENDA_GOLDEN PROPERTY VALUE "$ENV{DELENDA_GOLDEN}")
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# ccache, if there is one. Precompiled headers are only cacheable with the sloppiness that its manual asks for.
find_program(DELENDA_CCACHE ccache)
mark_as_advanced(DELENDA_CCACHE)
if(DELENDA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(delenda_launcher
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${DELENDA_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${delenda_launcher}")
  set(CMAKE_C_COMPILER_LAUNCHER "${delenda_launcher}")
endif()

# Sanitizers apply to every object of the build, the C ones too: a half instrumented program reports nonsense.
if(DELENDA_SANITIZE)
  add_compile_options("-fsanitize=${DELENDA_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${DELENDA_SANITIZE}")
endif()
if(DELENDA_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# What every source file of ours is compiled with.
add_library(delenda_flags INTERFACE)
target_compile_features(delenda_flags INTERFACE cxx_std_23)
target_compile_options(delenda_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(DELENDA_WERROR)
  target_compile_options(delenda_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # DELENDA_TRY is a statement expression and counts its names with __COUNTER__, on purpose.
  target_compile_options(delenda_flags INTERFACE -Wno-gnu-statement-expression
                                                 -Wno-gnu-statement-expression-from-macro-expansion)
  # libstdc++ 12 itself calls a function that C++17 deprecated, in std::stable_sort.
  target_compile_options(delenda_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # ccache caches files that use a precompiled header only with this flag.
  target_compile_options(delenda_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  # GCC 12 warns of overflows and overlaps inside std::string and std::vector that are not there (GCC bug 105651 and its
  # kin); clang and the sanitizers look for real ones.
  target_compile_options(delenda_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
    -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()
target_compile_definitions(delenda_flags INTERFACE "DELENDA_VERSION=\"${PROJECT_VERSION}\"")

# The include roots of the library's own files and its tests; programs see include/ only, through delenda::delenda.
add_library(delenda_private INTERFACE)
target_include_directories(delenda_private INTERFACE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")


# Run-time defaults of the sanitizers, linked into every program, so that they hold however a program is started.
if(DELENDA_SANITIZE)
  add_library(delenda_sanitizer_options OBJECT "${PROJECT_SOURCE_DIR}/cmake/sanitizer_options.cc")
endif()
function(delenda_sanitizer_defaults target)
  if(TARGET delenda_sanitizer_options)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:delenda_sanitizer_options>)
  endif()
endfunction()
