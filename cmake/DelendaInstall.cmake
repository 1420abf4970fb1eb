# Installation: the library, its public headers, the program, and a package for find_package(delenda CONFIG).

include(CMakePackageConfigHelpers)

set(delenda_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/delenda")

install(
  TARGETS delenda
  EXPORT delendaTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET delenda_cli)
  install(TARGETS delenda_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(EXPORT delendaTargets NAMESPACE delenda:: DESTINATION "${delenda_package_dir}")

# Where Arrow comes from must be the same for the consumer as it was here: the binary interface is that of one build.
if(DelendaArrow_ORIGIN MATCHES "^package")
  set(delenda_config_arrow_root "")
else()
  set(delenda_config_arrow_root "${DelendaArrow_ORIGIN}")
endif()
if(TARGET delenda_roaring)
  set(delenda_config_roaring OFF)
else()
  set(delenda_config_roaring ON)
endif()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/delendaConfig.cmake.in" "${PROJECT_BINARY_DIR}/delendaConfig.cmake"
                              INSTALL_DESTINATION "${delenda_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/delendaConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/delendaConfig.cmake"
        "${PROJECT_BINARY_DIR}/delendaConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindDelendaArrow.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindDelendaDeflate.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindDelendaLz4.cmake"
  DESTINATION "${delenda_package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
