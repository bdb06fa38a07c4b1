# padlock_precompile_headers(): every C++ target below this folder begins with the standard headers that most sources
# include, compiled once: a quarter of a sanitized build is reading them. Sources still include what they use, which a
# build without this option, such as the preset release, checks.

set(padlock_common_headers <algorithm> <array> <cstdint> <expected> <functional> <map> <memory> <optional> <set> <span>
                           <string> <string_view> <vector> <fmt/format.h>)

# The targets of a folder and of those below it that compile C++.
function(padlock_cxx_targets folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  set(found)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|EXECUTABLE)$")
      list(APPEND found ${target})
    endif()
  endforeach()
  foreach(below IN LISTS folders)
    padlock_cxx_targets(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(padlock_precompile_headers)
  padlock_cxx_targets(${PROJECT_SOURCE_DIR} targets)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "// Has no more than the precompiled headers.\n")
  add_library(padlock_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(padlock_precompiled PRIVATE padlock_options)
  target_precompile_headers(padlock_precompiled PRIVATE ${padlock_common_headers})
  # Headers are compiled for one level of optimisation: tests have their own, and with it their own header.
  if(TARGET doctest::doctest)
    add_library(padlock_precompiled_tests OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(padlock_precompiled_tests PRIVATE padlock_options doctest::doctest)
    target_compile_options(padlock_precompiled_tests PRIVATE -O0)
    target_precompile_headers(padlock_precompiled_tests PRIVATE ${padlock_common_headers} <doctest/doctest.h>)
  endif()
  foreach(target IN LISTS targets)
    get_target_property(options ${target} COMPILE_OPTIONS)
    get_target_property(is_pic ${target} POSITION_INDEPENDENT_CODE)
    if("-O1" IN_LIST options OR is_pic)  # few sources, and the header is compiled as most are
      continue()
    endif()
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if("-O0" IN_LIST options)
      if("padlock_doctest_main" IN_LIST libraries)  # others lack what doctest's header refers to
        target_precompile_headers(${target} REUSE_FROM padlock_precompiled_tests)
      endif()
    else()
      target_precompile_headers(${target} REUSE_FROM padlock_precompiled)
    endif()
  endforeach()
endfunction()
