# Installs the package, so that find_package(oas) gives oas::oas and oas::<module>.

include(CMakePackageConfigHelpers)

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/oas")

get_property(packages GLOBAL PROPERTY OAS_PACKAGES)
list(SORT packages)
list(REMOVE_DUPLICATES packages)
set(OAS_FIND_DEPENDENCIES)
foreach(package IN LISTS packages)
  string(APPEND OAS_FIND_DEPENDENCIES "find_dependency(${package})\n")
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
  COMPONENT oas_runtime FILES_MATCHING PATTERN "*.toml")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT oas_runtime)
