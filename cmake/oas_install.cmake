# Installs the package, so that find_package(oas) gives oas::oas and oas::<module>.

include(CMakePackageConfigHelpers)

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/oas")

get_property(packages GLOBAL PROPERTY OAS_PACKAGES)
list(SORT packages)
list(REMOVE_DUPLICATES packages)
set(OAS_FIND_DEPENDENCIES)
foreach(package IN LISTS packages)
  string(APPEND OAS_FIND_DEPENDENCIES "find_dependency(${package} ${OAS_LEAST_${package}})\n")
endforeach()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/oasConfig.cmake.in" "${PROJECT_BINARY_DIR}/oasConfig.cmake"
  INSTALL_DESTINATION "${package_directory}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/oasConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)

install(EXPORT oas NAMESPACE oas:: FILE oasTargets.cmake
  DESTINATION "${package_directory}" COMPONENT oas_development)
install(
  FILES "${PROJECT_BINARY_DIR}/oasConfig.cmake" "${PROJECT_BINARY_DIR}/oasConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindRandom123.cmake"
  DESTINATION "${package_directory}" COMPONENT oas_development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/studies" DESTINATION "${CMAKE_INSTALL_DATADIR}/oas"
  COMPONENT oas_runtime FILES_MATCHING PATTERN "*.toml" PATTERN "*.csv")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT oas_runtime)

# `cpack` in a build folder writes a Debian package of the command and its studies: it installs and
# runs on a machine without a compiler. Needed libraries are found by dpkg-shlibdeps.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME oas)
set(CPACK_PACKAGE_VENDOR "the authors of oas")
set(CPACK_PACKAGE_CONTACT "the authors of oas <oas@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL oas_runtime)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_OAS_RUNTIME_PACKAGE_NAME oas)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS librsvg2-bin)  # figures as PNG and PDF
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
