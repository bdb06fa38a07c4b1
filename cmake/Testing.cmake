# How tests are declared. Each function makes what ./dev test or ./dev fuzz finds by itself.

# padlock_add_test(name [OPTIMISED] SOURCES ... LIBRARIES ...): one doctest executable, one CTest test. Without OPTIMISED
# its own code is not: most of the time that a test takes is its compiler's, and half of that its optimiser's.
function(padlock_add_test name)
  cmake_parse_arguments(arg "OPTIMISED" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE padlock_doctest_main ${arg_LIBRARIES})
  if(NOT arg_OPTIMISED)
    target_compile_options(${name} PRIVATE -O0)
  elseif(PADLOCK_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# padlock_long_tests(seconds test ...): tests that take minutes, and so many seconds at most. CTest starts them before all
# others, those with the longest limit first: one that started last would keep one core busy after all others are done.
# Without a COST it would know that from earlier runs alone, which a fresh machine has not seen.
function(padlock_long_tests seconds)
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${seconds} COST ${seconds})
endfunction()

# padlock_keep_signals(test ...): of processes that die of signals, which a sanitizer's own handlers would turn into
# exits.
function(padlock_keep_signals)
  set_tests_properties(${ARGN} PROPERTIES
    ENVIRONMENT "ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigbus=0:allocator_may_return_null=1")
endfunction()

# padlock_startable(target result): the file by which a script starts a program: the program itself, or where an emulator runs it, a
# script of the same name that calls the emulator.
function(padlock_startable target result)
  set(${result} $<TARGET_FILE:${target}> PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING)
    set(script ${PROJECT_BINARY_DIR}/emulated/${target})
    get_target_property(is_written ${target} PADLOCK_STARTABLE)
    if(NOT is_written)  # one file has one rule
      list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
      file(GENERATE OUTPUT ${script} CONTENT "#!/bin/sh\nexec ${emulator} -0 \"$0\" $<TARGET_FILE:${target}> \"$@\"\n"
           FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
      set_target_properties(${target} PROPERTIES PADLOCK_STARTABLE ON)
    endif()
    set(${result} ${script} PARENT_SCOPE)
  endif()
endfunction()

# padlock_add_script_test(name): runs name.py of this folder, a unittest of a Python file under scripts/.
function(padlock_add_script_test name)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME scripts_${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py)
  set_tests_properties(scripts_${name} PROPERTIES TIMEOUT 300 ENVIRONMENT PYTHONPATH=${PROJECT_SOURCE_DIR}/scripts)
endfunction()

# padlock_add_must_not_compile_test(name control): each *.inc of this folder must not compile, for the reasons that stand
# in it. `control` is the target of the one *.cpp here, which does right what they do wrongly: it is compiled as every
# source is, and brings the flags.
function(padlock_add_must_not_compile_test name control)
  set(kind clang++)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(kind g++)
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME ${name}
           COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/scripts/must_not_compile.py
                   ${CMAKE_CURRENT_SOURCE_DIR} ${kind} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX23_EXTENSION_COMPILE_OPTION}
                   $<TARGET_PROPERTY:${control},COMPILE_OPTIONS>
                   -I${PROJECT_SOURCE_DIR} "-isystem$<JOIN:${LLVM_INCLUDE_DIRS},$<SEMICOLON>-isystem>"
           COMMAND_EXPAND_LISTS)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# padlock_register_fuzz_program(target): ./dev fuzz runs it as `PROGRAM --seconds=N --seed=S`. It exits with 0 when it
# found nothing, and prints its seed and what reproduces a finding otherwise. In the preset fuzz, libFuzzer's programs
# have the time alone.
function(padlock_register_fuzz_program target)
  if(PADLOCK_FUZZ)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY PADLOCK_FUZZ_PROGRAMS "seeded $<TARGET_FILE:${target}>")
endfunction()

# padlock_add_fuzzer(NAME_libfuzzer SOURCES ... LIBRARIES ...): a fuzz body, LLVMFuzzerTestOneInput, for ./dev fuzz
# --preset=fuzz, which runs it with libFuzzer's own options on what `NAME --write=FOLDER` makes. Other presets do not
# build it.
function(padlock_add_fuzzer name)
  if(NOT PADLOCK_FUZZ)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE padlock_options ${arg_LIBRARIES})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_property(GLOBAL APPEND PROPERTY PADLOCK_FUZZ_PROGRAMS "libfuzzer $<TARGET_FILE:${name}>")
endfunction()

# Writes the list that scripts/run_fuzz.py reads. Called once, after all tests are declared.
function(padlock_write_fuzz_programs)
  get_property(programs GLOBAL PROPERTY PADLOCK_FUZZ_PROGRAMS)
  list(JOIN programs "\n" lines)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/fuzz_programs.txt CONTENT "${lines}\n")
endfunction()
