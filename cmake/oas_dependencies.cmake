# Everything comes from find_package. What the library needs is always required; what only one of
# apps, tests or bench needs is required only when that part is built.

find_package(Boost 1.74 REQUIRED)  # header only: Boost::headers
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(pugixml 1.13 REQUIRED)
find_package(Random123 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(TBB REQUIRED)
find_package(tomlplusplus REQUIRED CONFIG)
find_package(ZLIB REQUIRED)
find_package(zstd REQUIRED CONFIG)

if(OAS_BUILD_APPS)
  find_package(CLI11 REQUIRED)
endif()
if(OAS_BUILD_TESTS)
  find_package(GTest REQUIRED CONFIG)
  find_package(rapidcheck REQUIRED CONFIG)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
if(OAS_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
