# LZ4: target DelendaLz4::lz4. Debian 12 packages no CMake configuration for it.
include(FindPackageHandleStandardArgs)
find_path(DelendaLz4_INCLUDE_DIR lz4frame.h)
find_library(DelendaLz4_LIBRARY lz4)
find_package_handle_standard_args(DelendaLz4 REQUIRED_VARS DelendaLz4_LIBRARY DelendaLz4_INCLUDE_DIR)
mark_as_advanced(DelendaLz4_INCLUDE_DIR DelendaLz4_LIBRARY)
if(DelendaLz4_FOUND AND NOT TARGET DelendaLz4::lz4)
  add_library(DelendaLz4::lz4 UNKNOWN IMPORTED)
  set_target_properties(
    DelendaLz4::lz4 PROPERTIES IMPORTED_LOCATION "${DelendaLz4_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                                      "${DelendaLz4_INCLUDE_DIR}")
endif()
