# padlock_options: what every target of this project is compiled and linked with.

add_library(padlock_options INTERFACE)
target_compile_features(padlock_options INTERFACE cxx_std_23)
target_include_directories(padlock_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(padlock_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off)
target_link_libraries(padlock_options INTERFACE padlock_fmt)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: string concatenation at -O3 warns from inside the standard library.
  target_compile_options(padlock_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 22)
  # doctest's macros name their tests with __COUNTER__, which -Wpedantic takes for an extension since clang 22. After
  # -Wpedantic, which would switch it on again.
  target_compile_options(padlock_options INTERFACE -Wno-c2y-extensions)
endif()

if(PADLOCK_ASSERTIONS)
  # RelWithDebInfo defines NDEBUG, which would switch our own assertions off in just the builds that look for bugs.
  target_compile_options(padlock_options INTERFACE -UNDEBUG)
  target_compile_definitions(padlock_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()

if(PADLOCK_SANITIZE)
  set(padlock_sanitize -fsanitize=${PADLOCK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND PADLOCK_SANITIZE MATCHES "undefined")
    # It reads a type hash in front of the callee, where code that the JIT made has none.
    list(APPEND padlock_sanitize -fno-sanitize=function)
  endif()
  target_compile_options(padlock_options INTERFACE ${padlock_sanitize})
  target_link_options(padlock_options INTERFACE ${padlock_sanitize})
  if(PADLOCK_SANITIZE MATCHES "thread")
    # Keeps the operator new of tests that count allocations (tests/allocation_count.cpp), which the linker sees first:
    # ThreadSanitizer's is not a weak symbol.
    target_link_options(padlock_options INTERFACE -Wl,--allow-multiple-definition)
  endif()
endif()

if(PADLOCK_FUZZ)
  # Coverage for libFuzzer everywhere; its main only in the programs that padlock_add_fuzzer makes.
  target_compile_options(padlock_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(padlock_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(PADLOCK_PORTABLE)
  target_compile_options(padlock_options INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(padlock_options INTERFACE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
endif()

# padlock_optimise_for_size(source ...): sources of this folder that run once a program or less.
function(padlock_optimise_for_size)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Oz>)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # they are compiled for -O2
  endif()
endfunction()
