# One folder of src/oas is one module is one target. The table of modules, their order and what
# each may use is cmake/layers.txt.

include_guard(GLOBAL)
include(GNUInstallDirs)

set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)  # target all_verify_interface_header_sets

file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/layers.txt" layer_lines REGEX "^[a-z]")
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY
  CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/layers.txt")
foreach(line IN LISTS layer_lines)
  string(REGEX MATCH "^([a-z_]+):(.*)$" matched "${line}")
  set(name "${CMAKE_MATCH_1}")
  separate_arguments(below UNIX_COMMAND "${CMAKE_MATCH_2}")
  list(APPEND oas_module_order ${name})
  set(oas_layer_${name} ${below})
endforeach()

# Notes for the package file which package a linked target comes from (Eigen3::Eigen: Eigen3).
function(oas_note_package target)
  if(target MATCHES "^([A-Za-z0-9_]+)::" AND NOT CMAKE_MATCH_1 STREQUAL "oas")
    set(package "${CMAKE_MATCH_1}")
    if(package STREQUAL "SQLite")
      set(package SQLite3)  # the one whose target is not called after its package
    endif()
    set_property(GLOBAL APPEND PROPERTY OAS_PACKAGES "${package}")
  endif()
endfunction()

# Links a library of others that no public header needs. One without binary (Random123, Boost) is
# then no business of the installed package; the rest must be found again by the final link.
function(oas_link_privately library target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY" AND NOT target STREQUAL "Threads::Threads")
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:${target}>)
  else()
    target_link_libraries(${library} PRIVATE ${target})
    oas_note_package(${target})
  endif()
endfunction()

# oas_module(<name>
#   HEADERS <files…>       public headers, and those of detail/ that public headers include
#   SOURCES <files…>       without any, the module is an interface library
#   DEPENDS <modules…>     other modules, as cmake/layers.txt allows
#   PUBLIC_LINK <targets…> libraries of others that the headers include
#   PRIVATE_LINK <targets…> libraries of others that only the sources include
#   APART                  for our own programs: neither part of oas::oas nor installed)
function(oas_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg
    "APART" "" "HEADERS;SOURCES;DEPENDS;PUBLIC_LINK;PRIVATE_LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "oas_module(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(module IN LISTS arg_DEPENDS)
    if(NOT module IN_LIST oas_layer_${name})
      message(FATAL_ERROR "oas_module(${name}): cmake/layers.txt does not allow ${module}")
    endif()
  endforeach()

  set(library oas_${name})
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(${library} STATIC ${arg_SOURCES})
    oas_target_defaults(${library})
    if(OAS_SANITIZE AND NOT OAS_SANITIZE_ALL)  # only what the chosen tests need
      set_target_properties(${library} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  else()
    set(scope INTERFACE)
    add_library(${library} INTERFACE)
  endif()
  add_library(oas::${name} ALIAS ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${library} ${scope} cxx_std_20)
  target_sources(${library} ${scope}
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src" FILES ${arg_HEADERS})

  list(TRANSFORM arg_DEPENDS PREPEND oas::)
  target_link_libraries(${library} ${scope} ${arg_DEPENDS} ${arg_PUBLIC_LINK})
  if(arg_APART)
    target_link_libraries(${library} PRIVATE ${arg_PRIVATE_LINK})
    set_property(GLOBAL APPEND PROPERTY OAS_MODULES_APART ${name})
    return()
  endif()
  foreach(target IN LISTS arg_PUBLIC_LINK)
    oas_note_package(${target})
  endforeach()
  foreach(target IN LISTS arg_PRIVATE_LINK)
    oas_link_privately(${library} ${target})
  endforeach()

  install(TARGETS ${library} EXPORT oas FILE_SET HEADERS COMPONENT oas_development
    ARCHIVE COMPONENT oas_development)
  set_property(GLOBAL APPEND PROPERTY OAS_MODULES ${name})
endfunction()

# Adds the modules that exist, in order, and oas::oas, which links all of them and owns oas/oas.hpp.
function(oas_add_modules)
  file(GLOB lists CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/oas/*/CMakeLists.txt")
  set(present)
  foreach(list IN LISTS lists)
    cmake_path(GET list PARENT_PATH directory)
    cmake_path(GET directory FILENAME name)
    if(NOT name IN_LIST oas_module_order)
      message(FATAL_ERROR "src/oas/${name} is not in cmake/layers.txt")
    endif()
    list(APPEND present ${name})
  endforeach()
  if(NOT OAS_HAS_HTTP)
    list(REMOVE_ITEM present server web)
  endif()
  foreach(name IN LISTS oas_module_order)
    if(name IN_LIST present)
      add_subdirectory("${PROJECT_SOURCE_DIR}/src/oas/${name}")
    endif()
  endforeach()
  if(TARGET oas_core)
    target_compile_definitions(oas_core PRIVATE OAS_VERSION="${PROJECT_VERSION}")
  endif()

  add_library(oas_all INTERFACE)
  add_library(oas::oas ALIAS oas_all)
  set_target_properties(oas_all PROPERTIES EXPORT_NAME oas)
  get_property(apart GLOBAL PROPERTY OAS_MODULES_APART)
  if(apart)
    list(REMOVE_ITEM present ${apart})
  endif()
  list(TRANSFORM present PREPEND oas::)
  target_link_libraries(oas_all INTERFACE ${present})
  file(GLOB umbrella CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/oas/oas.hpp")
  target_sources(oas_all INTERFACE
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src" FILES ${umbrella})
  install(TARGETS oas_all EXPORT oas FILE_SET HEADERS COMPONENT oas_development)
endfunction()
