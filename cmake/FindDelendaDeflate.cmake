# libdeflate: target DelendaDeflate::libdeflate. Debian 12 packages no CMake configuration for it.
include(FindPackageHandleStandardArgs)
find_path(DelendaDeflate_INCLUDE_DIR libdeflate.h)
find_library(DelendaDeflate_LIBRARY deflate)
find_package_handle_standard_args(DelendaDeflate REQUIRED_VARS DelendaDeflate_LIBRARY DelendaDeflate_INCLUDE_DIR)
mark_as_advanced(DelendaDeflate_INCLUDE_DIR DelendaDeflate_LIBRARY)
if(DelendaDeflate_FOUND AND NOT TARGET DelendaDeflate::libdeflate)
  add_library(DelendaDeflate::libdeflate UNKNOWN IMPORTED)
  set_target_properties(
    DelendaDeflate::libdeflate PROPERTIES IMPORTED_LOCATION "${DelendaDeflate_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                                      "${DelendaDeflate_INCLUDE_DIR}")
endif()
