# Installs what a wheel holds beside the package's Python files: the module and the library that it loads, the two programs, headers
# for callers of the C API, and the licences of what is linked.

set_target_properties(padlock_python PROPERTIES INSTALL_RPATH $ORIGIN/lib)
install(TARGETS padlock_python LIBRARY DESTINATION padlock COMPONENT wheel)
install(TARGETS padlock_shared LIBRARY DESTINATION padlock/lib COMPONENT wheel)
install(FILES include/padlock/padlock.h include/padlock/padlock.hpp DESTINATION padlock/include/padlock COMPONENT wheel)

# Beside each other: the command finds the library by its own place, the library the worker.
install(TARGETS padlock RUNTIME DESTINATION padlock/bin COMPONENT wheel)
install(TARGETS padlock-worker RUNTIME DESTINATION padlock/libexec COMPONENT wheel)

# What shells and man read, where a virtual environment has them.
set(padlock_manual_dir ${PROJECT_BINARY_DIR}/generated/manual)
install(FILES ${padlock_manual_dir}/padlock.1 DESTINATION ${SKBUILD_DATA_DIR}/share/man/man1 COMPONENT wheel)
install(FILES ${padlock_manual_dir}/padlock.bash DESTINATION ${SKBUILD_DATA_DIR}/share/bash-completion/completions
        RENAME padlock COMPONENT wheel)
install(FILES ${padlock_manual_dir}/_padlock DESTINATION ${SKBUILD_DATA_DIR}/share/zsh/site-functions COMPONENT wheel)
install(FILES ${padlock_manual_dir}/padlock.fish DESTINATION ${SKBUILD_DATA_DIR}/share/fish/vendor_completions.d COMPONENT wheel)

include(cmake/Pages.cmake)
padlock_install_pages(${SKBUILD_DATA_DIR}/share/doc/padlock wheel)

# What is linked: its licences as Debian has collected them, and a bill of materials (CycloneDX, where PEP 770 has it).
set(padlock_components)
foreach(linked "llvm-22-dev llvm Apache-2.0 WITH LLVM-exception" "libsqlite3-dev sqlite blessing" "zlib1g-dev zlib Zlib" "libzstd-dev zstd BSD-3-Clause"
        "libfmt-dev fmt MIT" "libxxhash-dev xxhash BSD-2-Clause" "nlohmann-json3-dev nlohmann-json MIT" "libprotozero-dev protozero BSD-2-Clause"
        "libcli11-dev cli11 BSD-3-Clause" "libstdc++-12-dev libstdc++ GPL-3.0-or-later WITH GCC-exception-3.1")
  string(REGEX MATCH "^([^ ]+) ([^ ]+) (.*)$" _ "${linked}")
  set(package ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  set(licence "${CMAKE_MATCH_3}")
  execute_process(COMMAND dpkg-query -W "-f=\${Version}" ${package} OUTPUT_VARIABLE version ERROR_QUIET)
  if(NOT version)
    continue()
  endif()
  install(FILES ${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright DESTINATION ${SKBUILD_METADATA_DIR}/licenses/linked RENAME ${package}.txt COMPONENT wheel)
  string(APPEND padlock_components "${padlock_comma}
    {\"type\": \"library\", \"name\": \"${name}\", \"version\": \"${version}\", \"licenses\": [{\"expression\": \"${licence}\"}], \"purl\": \"pkg:deb/debian/${package}@${version}\"}")
  set(padlock_comma ",")
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/padlock-jit.cdx.json "{
  \"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.6\", \"version\": 1,
  \"metadata\": {\"component\": {\"type\": \"library\", \"name\": \"padlock-jit\", \"version\": \"${PROJECT_VERSION}\", \"purl\": \"pkg:pypi/padlock-jit@${PROJECT_VERSION}\"}},
  \"components\": [${padlock_components}
  ]
}
")
install(FILES ${PROJECT_BINARY_DIR}/padlock-jit.cdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms COMPONENT wheel)
