# Installs BUILD below SCRATCH, then configures, builds and runs project/ against it.

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${SCRATCH}")
run(${CMAKE_COMMAND} --install "${BUILD}" --config "${CONFIG}" --prefix "${SCRATCH}/prefix")
run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/project" -B "${SCRATCH}/build"
    -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix" "-DCMAKE_CXX_COMPILER=${COMPILER}"
    "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DOAS_EXPECTED_VERSION=${VERSION}")
run(${CMAKE_COMMAND} --build "${SCRATCH}/build" --config "${CONFIG}")
run(${CMAKE_CTEST_COMMAND} --test-dir "${SCRATCH}/build" --build-config "${CONFIG}"
    --output-on-failure --no-tests=error)
file(REMOVE_RECURSE "${SCRATCH}")
