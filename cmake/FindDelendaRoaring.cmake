# CRoaring >= 4.7 (reading runs from an iterator): target DelendaRoaring::roaring. Debian's package is too old (0.2), so without an installed one the C
# amalgamation that the set-up script unpacked into third_party/croaring is compiled.
include(FindPackageHandleStandardArgs)
find_package(roaring 4.7...<7 CONFIG QUIET)
if(roaring_FOUND)
  set(DelendaRoaring_ORIGIN "package ${roaring_VERSION}")
  if(NOT TARGET DelendaRoaring::roaring)
    add_library(DelendaRoaring::roaring INTERFACE IMPORTED)
    set_target_properties(DelendaRoaring::roaring PROPERTIES INTERFACE_LINK_LIBRARIES roaring::roaring)
  endif()
elseif(EXISTS "${PROJECT_SOURCE_DIR}/third_party/croaring/roaring.c")
  set(DelendaRoaring_ORIGIN "third_party/croaring")
  if(NOT TARGET delenda_roaring)
    set(delenda_roaring_dir "${PROJECT_SOURCE_DIR}/third_party/croaring")
    add_library(delenda_roaring STATIC EXCLUDE_FROM_ALL "${delenda_roaring_dir}/roaring.c")
    target_include_directories(delenda_roaring PRIVATE "${delenda_roaring_dir}/include/roaring")
    target_include_directories(delenda_roaring SYSTEM INTERFACE "${delenda_roaring_dir}/include")
    set_target_properties(delenda_roaring PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF
                                                     C_VISIBILITY_PRESET hidden)
    # Its vectors are this engine's inner loop: optimised even in debug builds.
    target_compile_options(delenda_roaring PRIVATE -w -O2)
    if(DELENDA_SANITIZE MATCHES "undefined")
      # It passes null pointers with length 0 to memset and loads unaligned words: harmless, but reported.
      target_compile_options(delenda_roaring PRIVATE -fno-sanitize=undefined)
    endif()
    add_library(DelendaRoaring::roaring ALIAS delenda_roaring)
  endif()
endif()
find_package_handle_standard_args(
  DelendaRoaring REQUIRED_VARS DelendaRoaring_ORIGIN
  REASON_FAILURE_MESSAGE "neither an installed CRoaring >= 4 nor third_party/croaring: run `make setup`")
