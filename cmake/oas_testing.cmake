# Tests, benchmarks and examples: one line each in the CMakeLists.txt beside the source.

include_guard(GLOBAL)
if(OAS_BUILD_TESTS)
  include(GoogleTest)
endif()

# Labels by which scripts/test chooses: long (only with --full), statistical, consumer, bench and
# tree (looks at the files, not at the program) are left out of the runs under a sanitizer. Of the
# others a sanitizer sees those labelled memory (readers, files), and all with
# OAS_SANITIZE_ALL (--full).

# oas_test(<name> SOURCES <files…> [LINK <targets…>] [LABELS <labels…>])
# A GoogleTest program <name>_test; ctest shows each of its cases as <name>.<Suite>.<Case>.
# RapidCheck (rapidcheck/gtest.h) can be used; tests/ is on the include path ("support/…") and
# OAS_SOURCE_DIR is the root of the source tree.
function(oas_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "oas_test(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(OAS_SANITIZE AND ("long" IN_LIST arg_LABELS OR "statistical" IN_LIST arg_LABELS))
    return()  # scripts/test does not run these under a sanitizer, so they need not be built
  endif()
  if(OAS_SANITIZE AND NOT OAS_SANITIZE_ALL AND NOT "memory" IN_LIST arg_LABELS)
    return()
  endif()
  set(target ${name}_test)
  oas_executable(${target} SOURCES ${arg_SOURCES} LINK ${arg_LINK})
  # The library is what must be fast; optimising the tests themselves takes longer than they run.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(OAS_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  target_link_libraries(${target} PRIVATE GTest::gmock_main rapidcheck rapidcheck_gtest)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE OAS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set(timeout 120)
  if("long" IN_LIST arg_LABELS)
    set(timeout 1800)
  endif()
  string(REPLACE ";" "\\;" labels "${arg_LABELS}")
  gtest_discover_tests(${target}
    TEST_PREFIX ${name}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${timeout} LABELS "${labels}")
endfunction()

# oas_benchmark(<name> SOURCES <files…> [LINK <targets…>])
# A Google Benchmark program <name>_benchmark; ctest runs each of its cases for an instant.
# scripts/bench measures. The source needs no main().
function(oas_benchmark name)
  set(target ${name}_benchmark)
  oas_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE benchmark::benchmark_main benchmark::benchmark)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/bench")
  if(NOT TARGET oas_benchmarks)
    add_custom_target(oas_benchmarks)
  endif()
  add_dependencies(oas_benchmarks ${target})
  add_test(NAME bench.${name} COMMAND ${target} --benchmark_min_time=0.001)
  set_tests_properties(bench.${name} PROPERTIES LABELS bench TIMEOUT 120)
endfunction()

# oas_example(<name> [LINK <targets…>]): builds examples/<name>.cpp; ctest runs it in a folder of
# its own, where it may write files.
function(oas_example name)
  oas_executable(example_${name} SOURCES ${name}.cpp ${ARGN})
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/examples")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/run/${name}")
  file(MAKE_DIRECTORY "${folder}")
  add_test(NAME example.${name} COMMAND example_${name} WORKING_DIRECTORY "${folder}")
  set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 120)
endfunction()
