# Test programs: one per folder.
#
# delenda_test_folder(<folder below tests/>) makes program test_<folder with _> from the .cc files of that very folder,
# linked to the layers whose headers its files include; every gtest case becomes a ctest entry "<folder>.<Suite>.<Case>".

find_package(GTest REQUIRED)
find_package(rapidcheck QUIET)
include(GoogleTest)

# Python with pyarrow for the scripts among the tests, if the set-up made one.
if(EXISTS "${DELENDA_VENV}/bin/python3")
  set(DELENDA_TEST_PYTHON "${DELENDA_VENV}/bin/python3")
else()
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
  set(DELENDA_TEST_PYTHON "${Python3_EXECUTABLE}")
endif()

# All test programs and replayers that need no other program: what a sanitizer build is for.
set(DELENDA_UNIT_TESTS "^(unit|corrupt|model)(/|$)")
add_custom_target(delenda_unit_tests)

add_library(delenda_test_flags INTERFACE)
target_link_libraries(delenda_test_flags INTERFACE delenda_flags delenda_private fmt::fmt GTest::gmock Threads::Threads)
target_include_directories(delenda_test_flags INTERFACE "${PROJECT_SOURCE_DIR}/tests")
target_compile_definitions(delenda_test_flags
                           INTERFACE "DELENDA_FIXTURES=\"${PROJECT_SOURCE_DIR}/tests/fixtures\"")
if(DELENDA_GOLDEN)
  target_compile_definitions(delenda_test_flags INTERFACE "DELENDA_GOLDEN_DIR=\"${DELENDA_GOLDEN}\"")
endif()
if(DELENDA_SANITIZE)
  # Optimising instrumented code takes as long as compiling it, and the time of a test goes to the engine's.
  target_compile_options(delenda_test_flags INTERFACE -O0)
endif()
if(TARGET rapidcheck)
  target_link_libraries(delenda_test_flags INTERFACE rapidcheck)
endif()

if(DELENDA_PCH)
  _delenda_make_pch(delenda_pch_test "${PROJECT_SOURCE_DIR}/cmake/pch_test.h" delenda_test_flags)
endif()

function(delenda_test_folder folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cc")
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.h")
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" flat "${folder}")
  set(target "test_${flat}")
  file(GLOB support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.h")
  delenda_layers_of(layers ${sources} ${headers} ${support})
  delenda_layer_of_test(own "${folder}")

  add_executable(${target} ${sources} ${headers})
  target_link_libraries(${target} PRIVATE delenda_test_flags ${own} ${layers} GTest::gtest_main)
  delenda_sanitizer_defaults(${target})
  if(DELENDA_PCH)
    target_precompile_headers(${target} REUSE_FROM delenda_pch_test)
  endif()
  if(folder MATCHES "${DELENDA_UNIT_TESTS}")
    add_dependencies(delenda_unit_tests ${target})
  endif()
  if(DELENDA_SANITIZE)
    # A start costs seconds under a sanitizer: one for all tests of a program, not one for each.
    add_test(NAME ${folder} COMMAND ${target} --gtest_brief=1)
    # The longest first, or one of them runs alone at the end.
    set(cost 0)
    foreach(source IN LISTS sources)
      file(SIZE "${source}" size)
      math(EXPR cost "${cost} + ${size} / 1000")
    endforeach()
    set_tests_properties(${folder} PROPERTIES TIMEOUT 3600 LABELS "${flat}" COST ${cost})
    return()
  endif()
  gtest_discover_tests(
    ${target}
    TEST_PREFIX "${folder}."
    NO_PRETTY_VALUES
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 120
    PROPERTIES TIMEOUT 600 LABELS "${flat}")
endfunction()

# The layer that tests/unit/<layer> tests.
function(delenda_layer_of_test out folder)
  set(own "")
  if(folder MATCHES "^unit/(.*)$")
    delenda_layer_target(target "${CMAKE_MATCH_1}")
    if(TARGET ${target})
      set(own ${target})
    elseif("${CMAKE_MATCH_1}" STREQUAL "cli" AND TARGET delenda_cli_parts)
      set(own delenda_cli_parts)
    endif()
  endif()
  set(${out} "${own}" PARENT_SCOPE)
endfunction()

# delenda_python_test(<file below tests/>): a script among the tests, which exits with 0 if all is well.
function(delenda_python_test file)
  string(REGEX REPLACE "\\.py$" "" name "${file}")
  add_test(NAME "${name}" COMMAND "${DELENDA_TEST_PYTHON}" -B "${PROJECT_SOURCE_DIR}/tests/${file}")
  set(environment "DELENDA_FIXTURES=${PROJECT_SOURCE_DIR}/tests/fixtures" "DELENDA_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
  if(TARGET delenda_cli)
    list(APPEND environment "DELENDA_CLI=$<TARGET_FILE:delenda_cli>")
  endif()
  get_filename_component(folder "${file}" DIRECTORY)
  string(REPLACE "/" "_" label "${folder}")
  set_tests_properties("${name}" PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 900 LABELS "${label}")
endfunction()
