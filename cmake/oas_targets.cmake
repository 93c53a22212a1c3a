# oas_target_defaults(<target>): how each of our own targets is compiled. All of it is private:
# nothing here reaches a project that links to oas.

include_guard(GLOBAL)

# -Wconversion and -Wsign-conversion are left out: counts are integers that become doubles and
# sizes are signed in Eigen, so they would only teach us to write casts. -Wfloat-conversion stays.
set(oas_warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wfloat-conversion -Wcast-align -Wcast-qual
  -Wextra-semi -Wformat=2 -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
  $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
  $<$<CXX_COMPILER_ID:GNU>:-Wsuggest-override>)

# GCC derives these from its optimiser and is often wrong inside Eigen's templates.
set(oas_never_errors
  -Wno-error=array-bounds
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=stringop-overread>)

function(oas_target_defaults target)
  target_compile_options(${target} PRIVATE
    -ffp-contract=off  # the same bytes on machines with and without fused multiply-add
    ${oas_warnings})
  if(OAS_WERROR)
    target_compile_options(${target} PRIVATE -Werror ${oas_never_errors})
  endif()
  if(OAS_SANITIZE)
    list(JOIN OAS_SANITIZE "," sanitizers)
    target_compile_options(${target} PRIVATE
      -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
  endif()
  if(OAS_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage)
    target_link_options(${target} PRIVATE --coverage)
  endif()
endfunction()

# oas_executable(<target> SOURCES <files…> [LINK <targets…>]); without LINK it gets oas::oas.
function(oas_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "oas_executable(${target}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LINK)
    set(arg_LINK oas::oas)
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  oas_target_defaults(${target})
endfunction()

# oas_app(<name> SOURCES <files…> [LINK <targets…>]): a command, built as bin/<name> and installed.
function(oas_app name)
  oas_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  install(TARGETS ${name} RUNTIME COMPONENT oas_runtime)
endfunction()

# oas_add_subdirectories(<folder>): every <folder>/*/CMakeLists.txt.
function(oas_add_subdirectories folder)
  file(GLOB lists CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*/CMakeLists.txt")
  foreach(list IN LISTS lists)
    cmake_path(GET list PARENT_PATH directory)
    add_subdirectory("${directory}")
  endforeach()
endfunction()
