# Headers of others that nearly every file includes, compiled once (OAS_PRECOMPILE): of a build's
# time they are a third to a half. Only where files are compiled many in one: such a build does not
# notice a missing #include anyway, others must.

include_guard(GLOBAL)

set(oas_precompiled_standard
  <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional>
  <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread>
  <unordered_map> <utility> <variant> <vector>)
set(oas_precompiled_others <Eigen/Core> <fmt/format.h> <nlohmann/json.hpp>)

# oas_precompile(<target> [TEST]): gives it the headers that targets of its kind share. Call it when
# all flags of the target are set; one whose flags differ from those of the others keeps out.
function(oas_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST" "" "")
  if(NOT OAS_PRECOMPILE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(headers ${oas_precompiled_standard} ${oas_precompiled_others})
  set(shared oas_precompiled)
  set(link fmt::fmt Eigen3::Eigen nlohmann_json::nlohmann_json)
  if(arg_TEST)
    list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    list(APPEND link GTest::gmock_main)
    set(shared oas_precompiled_test)
  endif()
  if(NOT TARGET ${shared})
    file(WRITE "${PROJECT_BINARY_DIR}/${shared}.cpp" "// Compiled for its precompiled headers.\n")
    add_library(${shared} OBJECT "${PROJECT_BINARY_DIR}/${shared}.cpp")
    target_compile_features(${shared} PRIVATE cxx_std_20)
    target_link_libraries(${shared} PRIVATE ${link})
    oas_target_defaults(${shared})
    if(arg_TEST)
      oas_test_flags(${shared})
      set_target_properties(${shared} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${shared} PRIVATE -fPIE)  # as programs have it
    endif()
    target_precompile_headers(${shared} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
