# padlock_unite_sources(): the sources of a target that lie in one folder and are compiled alike become one translation
# unit, a "unity build": most of the time of a build is reading headers, which a unit reads once. CMake's own unity builds
# leave out every source that has options, and name sources by absolute paths, by which ccache would miss in another
# checkout.
#
# If two sources of a folder give one name to two things in their anonymous namespaces, give one of them CMake's property
# SKIP_UNITY_BUILD_INCLUSION. Sources still include what they use, which a build without PADLOCK_UNITY, such as
# ./dev matrix, checks.

set(padlock_unit_size 12)  # sources at most, since a change of one compiles all of its unit

# Names the unit of a source, given by its path from the root: by its folder and its options. Empty for a source that stays
# alone.
function(padlock_unit_of target source result)
  foreach(property SKIP_UNITY_BUILD_INCLUSION COMPILE_DEFINITIONS COMPILE_OPTIONS)
    get_source_file_property(${property} ${PROJECT_SOURCE_DIR}/${source} TARGET_DIRECTORY ${target} ${property})
  endforeach()
  set(unit)
  set(enums)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${source})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${source} enums REGEX "^enum [A-Za-z]+ [:{]" LIMIT_COUNT 1)
  endif()
  if(source MATCHES "^[^$]*\\.cpp$" AND NOT enums AND NOT SKIP_UNITY_BUILD_INCLUSION AND NOT COMPILE_DEFINITIONS)
    cmake_path(GET source PARENT_PATH unit)
    if(COMPILE_OPTIONS)
      string(SHA1 options "${COMPILE_OPTIONS}")
      string(SUBSTRING ${options} 0 8 options)
      string(APPEND unit _${options})
    endif()
    string(MAKE_C_IDENTIFIER "${unit}" unit)
  endif()
  set(${result} "${unit}" PARENT_SCOPE)
endfunction()

# Writes a unit, which is compiled as one of its sources is.
function(padlock_write_unit target unit like names)
  list(TRANSFORM names REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN names "" text)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
  foreach(property COMPILE_OPTIONS SKIP_PRECOMPILE_HEADERS)
    get_source_file_property(value ${like} TARGET_DIRECTORY ${target} ${property})
    if(value)
      set_property(SOURCE ${unit} TARGET_DIRECTORY ${target} PROPERTY ${property} ${value})
    endif()
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A class of a source may have members of types in its anonymous namespace; GCC takes the source for a header here.
    set_property(SOURCE ${unit} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS -Wno-subobject-linkage)
  endif()
endfunction()

# Splits the sources of a folder into units of equal size.
function(padlock_write_units target path names result)
  list(LENGTH names count)
  math(EXPR parts "(${count} + ${padlock_unit_size} - 1) / ${padlock_unit_size}")
  math(EXPR size "(${count} + ${parts} - 1) / ${parts}")
  set(units)
  foreach(part RANGE 1 ${parts})
    math(EXPR begin "(${part} - 1) * ${size}")
    list(SUBLIST names ${begin} ${size} of_part)
    list(GET of_part 0 first)
    padlock_write_unit(${target} ${path}_${part}.cpp ${PROJECT_SOURCE_DIR}/${first} "${of_part}")
    list(APPEND units ${path}_${part}.cpp)
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

function(padlock_unite_target target)
  get_target_property(base ${target} SOURCE_DIR)
  get_target_property(binary ${target} BINARY_DIR)
  get_target_property(sources ${target} SOURCES)
  set(units)
  set(left)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE OUTPUT_VARIABLE name)
    cmake_path(RELATIVE_PATH name BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    padlock_unit_of(${target} ${name} unit)
    if(unit)
      list(APPEND units ${unit})
      list(APPEND sources_of_${unit} ${name})
    else()
      list(APPEND left ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit IN LISTS units)
    set(written ${PROJECT_SOURCE_DIR}/${sources_of_${unit}})
    list(LENGTH sources_of_${unit} count)
    if(count GREATER 1)
      padlock_write_units(${target} ${binary}/unity/${target}/${unit} "${sources_of_${unit}}" written)
    endif()
    list(APPEND left ${written})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${left})
endfunction()

function(padlock_unite_sources)
  padlock_cxx_targets(${PROJECT_SOURCE_DIR} targets)
  if(TARGET padlock_python)
    list(APPEND targets padlock_python)
  endif()
  foreach(target IN LISTS targets)
    padlock_unite_target(${target})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Collects no garbage below 1 GB, which units stay below: an eighth of the time, for a quarter more memory.
      target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=1000000)
    endif()
  endforeach()
endfunction()
