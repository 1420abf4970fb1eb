# Third-party libraries. Every one becomes a target; which folder may use which is in tools/layers.toml.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(zstd REQUIRED)
find_package(Snappy REQUIRED)
find_package(DelendaLz4 REQUIRED)
find_package(DelendaDeflate REQUIRED)
find_package(DelendaRoaring REQUIRED)
find_package(DelendaArrow REQUIRED)
find_package(SQLite3 REQUIRED)

# Headers only.
find_path(DelendaToml_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(DelendaToml::toml INTERFACE IMPORTED)
target_include_directories(DelendaToml::toml SYSTEM INTERFACE "${DelendaToml_INCLUDE_DIR}")

if(NOT TARGET zstd::libzstd)
  # Older packages name the shared and the static library only.
  add_library(zstd::libzstd INTERFACE IMPORTED)
  set_target_properties(zstd::libzstd PROPERTIES INTERFACE_LINK_LIBRARIES zstd::libzstd_shared)
endif()
