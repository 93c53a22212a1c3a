# Options and defaults of the whole build. Presets of the usual combinations: CMakePresets.json.

option(OAS_BUILD_APPS "Build the oas command" ${PROJECT_IS_TOP_LEVEL})
option(OAS_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(OAS_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(OAS_BUILD_EXAMPLES "Build the examples and run them as tests" ${PROJECT_IS_TOP_LEVEL})
option(OAS_BUILD_HTTP "Build the HTTP server of oas agent (needs Boost.Beast)" ON)
option(OAS_BUILD_PYTHON "Build the Python package oas (needs nanobind, see scripts/setup)" OFF)
set(MPI_CXX_SKIP_MPICXX ON)  # the old C++ interface
find_package(MPI QUIET COMPONENTS CXX)
option(OAS_MPI "Let the oas command run under mpirun (default: where MPI is found)"
  ${MPI_CXX_FOUND})
option(OAS_WERROR "Treat compiler warnings as errors" OFF)
option(OAS_SANITIZE_ALL "Under a sanitizer: all fast tests, not only those labelled memory" OFF)
option(OAS_COVERAGE "Count executed lines (gcov)" OFF)
set(OAS_SANITIZE "" CACHE STRING "Sanitizers: empty, address;undefined or thread")
set_property(CACHE OAS_SANITIZE PROPERTY STRINGS "" "address;undefined" "thread")

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(OAS_CCACHE ccache)
  mark_as_advanced(OAS_CCACHE)
  if(OAS_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${OAS_CCACHE}")
  endif()
endif()
