# Everything comes from find_package. What the library needs is always required; what only one of
# apps, tests or bench needs is required only when that part is built.

# The least versions, also for those who find the installed package.
set(OAS_LEAST_Boost 1.74)
set(OAS_LEAST_Eigen3 3.4)
set(OAS_LEAST_fmt 9)
set(OAS_LEAST_nlohmann_json 3.11)
set(OAS_LEAST_pugixml 1.13)
set(OAS_LEAST_SQLite3 3.40)

find_package(Boost ${OAS_LEAST_Boost} REQUIRED)  # header only: Boost::headers
find_package(Eigen3 ${OAS_LEAST_Eigen3} REQUIRED NO_MODULE)
find_package(fmt ${OAS_LEAST_fmt} REQUIRED)
find_package(nlohmann_json ${OAS_LEAST_nlohmann_json} REQUIRED)
find_package(pugixml ${OAS_LEAST_pugixml} REQUIRED)
find_package(Random123 REQUIRED)
find_package(SQLite3 ${OAS_LEAST_SQLite3} REQUIRED)
find_package(Threads REQUIRED)
find_package(tomlplusplus REQUIRED CONFIG)
find_package(ZLIB REQUIRED)
find_package(zstd REQUIRED CONFIG)

# Part of Boost, but some take Boost apart.
if(OAS_BUILD_HTTP)
  find_path(OAS_BEAST_HEADERS boost/beast/http/parser.hpp HINTS ${Boost_INCLUDE_DIRS})
  mark_as_advanced(OAS_BEAST_HEADERS)
endif()
set(OAS_HAS_HTTP OFF)
if(OAS_BUILD_HTTP AND OAS_BEAST_HEADERS)
  set(OAS_HAS_HTTP ON)
elseif(OAS_BUILD_HTTP)
  message(STATUS "Boost.Beast is missing: oas agent is built without --http")
endif()

if(OAS_BUILD_APPS OR OAS_BUILD_PYTHON)
  find_package(CLI11 REQUIRED)
endif()
if(OAS_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
if(OAS_BUILD_TESTS)
  find_package(GTest REQUIRED CONFIG)
  find_package(rapidcheck REQUIRED CONFIG)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
if(OAS_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
