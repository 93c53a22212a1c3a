# Configures SOURCE below SCRATCH with OAS_MPI off and builds what differs then, the module
# backends. Nothing of MPI may be left in it.

include("${SOURCE}/tests/consumer/run.cmake")

file(REMOVE_RECURSE "${SCRATCH}")
run(${CMAKE_COMMAND} -S "${SOURCE}" -B "${SCRATCH}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
    -DCMAKE_BUILD_TYPE=Debug -DOAS_MPI=OFF -DOAS_WERROR=ON
    -DOAS_BUILD_TESTS=OFF -DOAS_BUILD_BENCH=OFF -DOAS_BUILD_EXAMPLES=OFF -DOAS_BUILD_PYTHON=OFF)
run(${CMAKE_COMMAND} --build "${SCRATCH}" --target oas_backends)
file(GLOB_RECURSE library "${SCRATCH}/*oas_backends.a")
file(STRINGS "${library}" calls REGEX "MPI_[A-Z]")
if(NOT library OR calls)
  message(FATAL_ERROR "with OAS_MPI off, '${library}' contains: ${calls}")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
