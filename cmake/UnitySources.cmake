# padlock_unite_sources(): the sources of a target that lie in one folder and are compiled alike become one translation
# unit, a "unity build". Most of a build is reading headers and instantiating their templates, which a unit does once.
#
# CMake's own unity builds leave out every source that has options, which are a third of runtime/ and ir/. They name
# sources by absolute paths, so that ccache finds nothing in another checkout.
#
# If two sources of a folder give one name to two things in their anonymous namespaces, give one of them CMake's property
# SKIP_UNITY_BUILD_INCLUSION. Sources still include what they use: ./dev matrix, which compiles each alone, checks
# that.

# Sources in a unit, at most: a change of one compiles all of them. Most folders have no more; eight take longer by a
# tenth.
set(padlock_unit_size 12)

# Whether a source is compiled alone: one that has SKIP_UNITY_BUILD_INCLUSION, one with definitions of its own, and one
# with a plain enum, whose enumerators would be names of the whole unit. `source` is a path from the root.
function(padlock_is_alone target source result)
  set(file ${PROJECT_SOURCE_DIR}/${source})
  set(enums)
  if(EXISTS ${file})  # a generator expression is no file
    file(STRINGS ${file} enums REGEX "^enum [A-Za-z]+ [:{]" LIMIT_COUNT 1)
  endif()
  get_source_file_property(is_skipped ${file} TARGET_DIRECTORY ${target} SKIP_UNITY_BUILD_INCLUSION)
  get_source_file_property(definitions ${file} TARGET_DIRECTORY ${target} COMPILE_DEFINITIONS)
  set(${result} OFF PARENT_SCOPE)
  if(NOT EXISTS ${file} OR NOT source MATCHES "\\.cpp$" OR enums OR is_skipped OR definitions)
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# Names the unit of a source by its folder and its options.
function(padlock_unit_of target source result)
  cmake_path(GET source PARENT_PATH unit)
  get_source_file_property(options ${PROJECT_SOURCE_DIR}/${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
  if(options)
    string(SHA1 hash "${options}")
    string(SUBSTRING ${hash} 0 8 hash)
    string(APPEND unit _${hash})
  endif()
  string(MAKE_C_IDENTIFIER "${unit}" unit)
  set(${result} ${unit} PARENT_SCOPE)
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

# Puts units in the place of a target's sources.
function(padlock_unite_target target)
  get_target_property(base ${target} SOURCE_DIR)
  get_target_property(binary ${target} BINARY_DIR)
  get_target_property(sources ${target} SOURCES)
  set(units)
  set(compiled)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE OUTPUT_VARIABLE name)
    cmake_path(RELATIVE_PATH name BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    padlock_is_alone(${target} ${name} is_alone)
    if(is_alone)
      list(APPEND compiled ${source})
    else()
      padlock_unit_of(${target} ${name} unit)
      list(APPEND units ${unit})
      list(APPEND sources_of_${unit} ${name})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit IN LISTS units)
    set(written ${PROJECT_SOURCE_DIR}/${sources_of_${unit}})
    list(LENGTH sources_of_${unit} count)
    if(count GREATER 1)
      padlock_write_units(${target} ${binary}/unity/${target}/${unit} "${sources_of_${unit}}" written)
    endif()
    list(APPEND compiled ${written})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${compiled})
endfunction()

function(padlock_unite_sources)
  padlock_cxx_targets(${PROJECT_SOURCE_DIR} targets)
  if(TARGET padlock_python)
    list(APPEND targets padlock_python)
  endif()
  foreach(target IN LISTS targets)
    padlock_unite_target(${target})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC looks for garbage from 1 GB on, which few units reach: an eighth less time, and a quarter more memory.
      target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=1000000)
    endif()
  endforeach()
endfunction()
