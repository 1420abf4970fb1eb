# Apache Arrow and Parquet: targets DelendaArrow::{arrow,parquet,compute,acero,dataset} and DelendaArrow_RUNTIME_DIR, the
# folder that programs need in their run path. Taken from installed CMake packages, or else from the headers and
# libraries inside the pyarrow wheel of a virtual environment: DelendaArrow_ROOT (the pyarrow folder) or DELENDA_VENV.
#
# Installed beside delendaConfig.cmake too, so it uses nothing of the project but these variables.
include(FindPackageHandleStandardArgs)

set(delenda_arrow_major 26)

if(NOT DelendaArrow_ROOT)
  find_package(Arrow ${delenda_arrow_major} CONFIG QUIET)
  find_package(Parquet ${delenda_arrow_major} CONFIG QUIET)
  find_package(ArrowCompute ${delenda_arrow_major} CONFIG QUIET)
  find_package(ArrowAcero ${delenda_arrow_major} CONFIG QUIET)
  find_package(ArrowDataset ${delenda_arrow_major} CONFIG QUIET)
endif()

if(Arrow_FOUND
   AND Parquet_FOUND
   AND ArrowDataset_FOUND)
  set(DelendaArrow_ORIGIN "package ${Arrow_VERSION}")
  foreach(
    pair IN
    ITEMS "arrow Arrow::arrow_shared" "parquet Parquet::parquet_shared" "compute ArrowCompute::arrow_compute_shared"
          "acero ArrowAcero::arrow_acero_shared" "dataset ArrowDataset::arrow_dataset_shared")
    string(REPLACE " " ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 real)
    if(NOT TARGET DelendaArrow::${name})
      add_library(DelendaArrow::${name} INTERFACE IMPORTED)
      set_target_properties(DelendaArrow::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${real}")
    endif()
  endforeach()
  get_target_property(delenda_arrow_location Arrow::arrow_shared LOCATION)
  get_filename_component(DelendaArrow_RUNTIME_DIR "${delenda_arrow_location}" DIRECTORY)
else()
  set(delenda_arrow_soversion ${delenda_arrow_major}00)
  if(DelendaArrow_ROOT)
    set(delenda_arrow_folders "${DelendaArrow_ROOT}")
  else()
    file(GLOB delenda_arrow_folders "${DELENDA_VENV}/lib/python3*/site-packages/pyarrow")
  endif()
  set(DelendaArrow_ORIGIN "")
  foreach(folder IN LISTS delenda_arrow_folders)
    if(EXISTS "${folder}/libarrow.so.${delenda_arrow_soversion}" AND EXISTS "${folder}/include/arrow/api.h")
      set(DelendaArrow_ORIGIN "${folder}")
      set(DelendaArrow_RUNTIME_DIR "${folder}")
    endif()
  endforeach()
  if(DelendaArrow_ORIGIN)
    foreach(
      pair IN
      ITEMS "arrow arrow" "compute arrow_compute DelendaArrow::arrow" "parquet parquet DelendaArrow::arrow"
            "acero arrow_acero DelendaArrow::compute"
            "dataset arrow_dataset DelendaArrow::acero DelendaArrow::parquet")
      string(REPLACE " " ";" pair "${pair}")
      list(POP_FRONT pair name)
      list(POP_FRONT pair library)
      if(NOT TARGET DelendaArrow::${name})
        add_library(DelendaArrow::${name} SHARED IMPORTED)
        set(delenda_arrow_file "lib${library}.so.${delenda_arrow_soversion}")
        set_target_properties(
          DelendaArrow::${name}
          PROPERTIES IMPORTED_LOCATION "${DelendaArrow_ORIGIN}/${delenda_arrow_file}"
                     IMPORTED_SONAME "${delenda_arrow_file}"
                     INTERFACE_INCLUDE_DIRECTORIES "${DelendaArrow_ORIGIN}/include"
                     INTERFACE_LINK_LIBRARIES "${pair}")
      endif()
    endforeach()
  endif()
endif()

find_package_handle_standard_args(
  DelendaArrow REQUIRED_VARS DelendaArrow_ORIGIN
  REASON_FAILURE_MESSAGE
    "neither installed Arrow ${delenda_arrow_major} packages nor a pyarrow ${delenda_arrow_major} wheel: run `make setup`, or set DelendaArrow_ROOT to a pyarrow folder"
)
