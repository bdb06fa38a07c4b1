# padlock_precompile_headers(): every C++ target below this folder begins with the standard headers that most sources
# include, compiled once for each set of flags. Reading them is a quarter of a sanitized build, and a tenth of one whose
# sources are united. Sources still include what they use, which a build without this option, such as ./dev matrix, checks.

set(padlock_common_headers <algorithm> <array> <cstdint> <expected> <functional> <map> <memory> <optional> <set> <span>
                           <string> <string_view> <vector> <fmt/format.h>)

# Compiles the headers with the flags of padlock_options and those of the libraries given.
function(padlock_add_precompiled name headers)
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(${name} PRIVATE padlock_options ${ARGN})
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

# The one among the compiled headers whose flags are those of a target, or nothing.
function(padlock_precompiled_for target result)
  get_target_property(is_off ${target} DISABLE_PRECOMPILE_HEADERS)
  get_target_property(options ${target} COMPILE_OPTIONS)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(is_pic ${target} POSITION_INDEPENDENT_CODE)
  set(found)
  if(is_off)
    # It waits for none, either.
  elseif("-O0" IN_LIST options)
    if("padlock_doctest_main" IN_LIST libraries)  # others lack what doctest's header refers to
      set(found padlock_precompiled_tests)
    endif()
  elseif(NOT "-O1" IN_LIST options)  # few sources
    set(found padlock_precompiled)
    if(is_pic)
      set(found padlock_precompiled_pic)
    endif()
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(padlock_precompile_headers)
  padlock_cxx_targets(${PROJECT_SOURCE_DIR} targets)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "// Has no more than the precompiled headers.\n")
  padlock_add_precompiled(padlock_precompiled "${padlock_common_headers}")
  padlock_add_precompiled(padlock_precompiled_pic "${padlock_common_headers}")
  set_target_properties(padlock_precompiled_pic PROPERTIES POSITION_INDEPENDENT_CODE ON EXCLUDE_FROM_ALL ON)
  if(TARGET doctest::doctest)
    padlock_add_precompiled(padlock_precompiled_tests "${padlock_common_headers};<doctest/doctest.h>" doctest::doctest)
    target_compile_options(padlock_precompiled_tests PRIVATE -O0)
  endif()
  foreach(target IN LISTS targets)
    padlock_precompiled_for(${target} header)
    if(header)
      target_precompile_headers(${target} REUSE_FROM ${header})
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # asked for by ccache
      endif()
    endif()
  endforeach()
endfunction()
