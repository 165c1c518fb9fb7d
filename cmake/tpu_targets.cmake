# Rules that every target of the project follows.
#
#   tpu_library(NAME SOURCES a.cpp b.cpp DEPS other_target)   one library a folder
#   tpu_test(NAME SOURCES a_test.cpp DEPS ...)                 one GoogleTest program a folder
#   tpu_pytest(NAME FILE [ENV NAME=value ...])                 one pytest file, run by ctest
#   tpu_benchmark(NAME SOURCES a_bench.cpp DEPS ...)           Google Benchmark, built, not run by ctest
#   tpu_link_package(FROM TO)                                  a Python package's sources, in the build
#   tpu_cache_precompiled(NAME)                                lets ccache serve a target with such headers
#
# Without TPU_BUILD_TESTS only the libraries remain.
include(GoogleTest)

option(TPU_WARNINGS_AS_ERRORS "Off for a compiler that the project was not tried with" ON)

# -ffp-contract=off: a product and a sum never become one rounding behind our back (promise 2).
add_library(tpu_options INTERFACE)
target_compile_options(tpu_options INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off -fno-fast-math
  $<$<BOOL:${TPU_WARNINGS_AS_ERRORS}>:-Werror>)
# GCC's optimiser sees copies that are not there: overlapping ones in `"text" + string` (GCC 12, its
# bug 105651), and ones past the end of a vector of one element that it has just unrolled (GCC 14).
target_compile_options(tpu_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow>)
# GCC 13 takes every reference that a function returns for one to its arguments: `chip_spec("v6e")`.
target_compile_options(tpu_options INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>)
# Clang sees that libstdc++ 12's own std::stable_sort uses what libstdc++ 12 calls deprecated.
target_compile_options(tpu_options INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
target_include_directories(tpu_options INTERFACE ${PROJECT_SOURCE_DIR})

set(TPU_SANITIZE "" CACHE STRING "Comma-separated sanitizers for everything: address,undefined or thread")
if(TPU_SANITIZE)
  target_compile_options(tpu_options INTERFACE
    -fsanitize=${TPU_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tpu_options INTERFACE -fsanitize=${TPU_SANITIZE})
endif()

function(tpu_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tpu_options ${ARG_DEPS})
endfunction()

function(tpu_test name)
  if(NOT TPU_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tpu_options GTest::gtest_main ${ARG_DEPS})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900)
endfunction()

function(tpu_benchmark name)
  if(NOT TPU_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tpu_options benchmark::benchmark_main ${ARG_DEPS})
endfunction()

execute_process(COMMAND ${TPU_PYTHON} -c "import pytest"
  RESULT_VARIABLE TPU_NO_PYTEST OUTPUT_QUIET ERROR_QUIET)
if(TPU_BUILD_TESTS AND TPU_NO_PYTEST)
  message(STATUS "${TPU_PYTHON} has no pytest: the tests in Python are left out")
endif()

# A test that needs a package which is absent skips itself and says so. Values of ENV may hold
# generator expressions such as $<TARGET_FILE:tool>.
function(tpu_pytest name file)
  if(NOT TPU_BUILD_TESTS OR TPU_NO_PYTEST)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "ENV" ${ARGN})
  get_filename_component(path ${file} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  add_test(NAME ${name}
    COMMAND ${TPU_PYTHON} -m pytest -q -p no:cacheprovider -rs ${path}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;${ARG_ENV}" TIMEOUT 900
    SKIP_RETURN_CODE 5)  # the file as a whole skipped itself
endfunction()

# The build holds links, so that an edited source needs no build.
function(tpu_link_package from to)
  file(MAKE_DIRECTORY ${to})
  file(GLOB entries CONFIGURE_DEPENDS ${from}/*)
  list(FILTER entries EXCLUDE REGEX "/__pycache__$")
  foreach(entry ${entries})
    get_filename_component(base ${entry} NAME)
    file(CREATE_LINK ${entry} ${to}/${base} SYMBOLIC)
  endforeach()
endfunction()

# ccache takes a source with a precompiled header for changed unless it is told what not to look at.
function(tpu_cache_precompiled name)
  if(CCACHE)
    set_property(TARGET ${name} PROPERTY CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  endif()
endfunction()
