# Writes the Debian package of BUILD below SCRATCH, unpacks it and runs the command from there.

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${SCRATCH}")
run(${CPACK} --config "${BUILD}/CPackConfig.cmake" -C "${CONFIG}" -B "${SCRATCH}")
file(GLOB packages "${SCRATCH}/*.deb")
list(LENGTH packages count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${count} packages in ${SCRATCH}")
endif()
run(dpkg-deb --field ${packages} Depends)
if(NOT output MATCHES "libc6.*libstdc\\+\\+6")
  message(FATAL_ERROR "the package does not say what it needs: ${output}")
endif()
run(dpkg-deb --extract ${packages} "${SCRATCH}/root")
run("${SCRATCH}/root/usr/bin/oas" simulate machine-maintenance --steps 2000 -o
    "${SCRATCH}/log.csv")
run("${SCRATCH}/root/usr/bin/oas" estimate machine-maintenance "${SCRATCH}/log.csv")
run("${SCRATCH}/root/usr/bin/oas" study list)
if(NOT output MATCHES "coverage")
  message(FATAL_ERROR "the package has lost its studies: ${output}")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
