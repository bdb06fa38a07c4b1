# Libraries that Padlock is linked with, as targets: padlock_llvm, padlock_fmt, padlock_sqlite, padlock_protozero and padlock_xxhash;
# and what it only includes, nlohmann_json.
#
# LLVM and SQLite are shared libraries, except in the portable build and in a wheel: their files run on a machine
# that has glibc and nothing else, so everything but glibc is linked statically there.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
if(PADLOCK_BUILD_CLI OR PADLOCK_BUILD_BENCH)
  find_package(CLI11 REQUIRED)
endif()
if(PADLOCK_TUNER)
  find_package(SQLite3 REQUIRED)
endif()
find_package(nlohmann_json REQUIRED)
# LLVM's version file accepts an exact major.minor only.
find_package(LLVM 22.1 REQUIRED CONFIG)

add_library(padlock_fmt INTERFACE)
if(PADLOCK_WHEEL)
  # Debian has no archive of it. Objects are those of other builds, and what is linked of them links it, too.
  target_include_directories(padlock_fmt SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(padlock_fmt INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
else()
  target_link_libraries(padlock_fmt INTERFACE $<IF:$<BOOL:${PADLOCK_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)
endif()
# fmt as part of what is linked, for the wheel and for the library that runs packs.
if(NOT PADLOCK_PORTABLE)
  add_library(padlock_fmt_archive STATIC cmake/fmt_archive.cpp)
  # Its flags are none of padlock_options, so that it cannot share their precompiled header.
  set_target_properties(padlock_fmt_archive PROPERTIES POSITION_INDEPENDENT_CODE ON DISABLE_PRECOMPILE_HEADERS ON)
  target_compile_options(padlock_fmt_archive PRIVATE -Os -ffunction-sections -fdata-sections)
  target_link_libraries(padlock_fmt_archive PRIVATE padlock_fmt)
  target_compile_features(padlock_fmt_archive PRIVATE cxx_std_23)
endif()

# Its header holds all of it (XXH_INLINE_ALL), so that nothing is linked.
find_path(PADLOCK_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(padlock_xxhash INTERFACE)
target_include_directories(padlock_xxhash SYSTEM INTERFACE ${PADLOCK_XXHASH_INCLUDE_DIR})

# Headers alone, too: reads the wire format of ONNX models.
find_path(PADLOCK_PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
add_library(padlock_protozero INTERFACE)
target_include_directories(padlock_protozero SYSTEM INTERFACE ${PADLOCK_PROTOZERO_INCLUDE_DIR})

add_library(padlock_sqlite INTERFACE)
if(NOT PADLOCK_TUNER)
  # Nothing calls it.
elseif(PADLOCK_STATIC_DEPENDENCIES)
  find_library(PADLOCK_SQLITE_LIBRARY libsqlite3.a REQUIRED)
  target_include_directories(padlock_sqlite SYSTEM INTERFACE ${SQLite3_INCLUDE_DIRS})
  target_link_libraries(padlock_sqlite INTERFACE ${PADLOCK_SQLITE_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS} m)
else()
  target_link_libraries(padlock_sqlite INTERFACE SQLite::SQLite3)
endif()

add_library(padlock_llvm INTERFACE)
target_include_directories(padlock_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
# LLVM_DEFINITIONS says what C++11 and libstdc++ do by themselves; without it the compiler's sources can begin with the
# same precompiled headers as the others.

# The back ends: any of these CPUs, and GPUs, is a target from any machine.
set(padlock_llvm_back_ends NVPTX)
foreach(cpu X86 AArch64)
  if(cpu IN_LIST LLVM_TARGETS_TO_BUILD)
    list(APPEND padlock_llvm_back_ends ${cpu})
    string(TOUPPER PADLOCK_LLVM_${cpu} definition)
    target_compile_definitions(padlock_llvm INTERFACE ${definition})
  endif()
endforeach()

if(PADLOCK_STATIC_DEPENDENCIES)
  find_library(PADLOCK_ZLIB_LIBRARY libz.a REQUIRED)
  find_library(PADLOCK_ZSTD_LIBRARY libzstd.a REQUIRED)
  # LLVMSupport's exported needs name shared libraries: zlib and zstd, for compressed debug sections, have static
  # twins; Z3 and libxml2 have users only in parts of LLVM that are not linked.
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
                        "rt;dl;m;${PADLOCK_ZLIB_LIBRARY};${PADLOCK_ZSTD_LIBRARY};LLVMDemangle")
  llvm_map_components_to_libnames(padlock_llvm_libraries core support object passes ipo irreader ${padlock_llvm_back_ends})
  target_link_libraries(padlock_llvm INTERFACE ${padlock_llvm_libraries})
else()
  target_link_libraries(padlock_llvm INTERFACE LLVM)
endif()
