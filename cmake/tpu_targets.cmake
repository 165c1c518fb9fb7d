# Rules that every target of the project follows.
#
#   tpu_library(NAME SOURCES a.cpp b.cpp DEPS other_target)   one library a folder
#   tpu_test(NAME SOURCES a_test.cpp DEPS ...)                 one GoogleTest program a folder
#   tpu_benchmark(NAME SOURCES a_bench.cpp DEPS ...)           Google Benchmark, built, not run by ctest
find_package(GTest REQUIRED)
find_package(TBB REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)

# -ffp-contract=off: a product and a sum never become one rounding behind our back (promise 2).
add_library(tpu_options INTERFACE)
target_compile_options(tpu_options INTERFACE -Wall -Wextra -Wpedantic -Werror -ffp-contract=off -fno-fast-math)
target_include_directories(tpu_options INTERFACE ${PROJECT_SOURCE_DIR})

function(tpu_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tpu_options ${ARG_DEPS})
endfunction()

function(tpu_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tpu_options GTest::gtest_main ${ARG_DEPS})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900)
endfunction()

function(tpu_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tpu_options benchmark::benchmark_main ${ARG_DEPS})
endfunction()
