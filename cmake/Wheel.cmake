# Installs what a wheel holds beside the package's Python files: the module and the library that it loads, the two programs, headers
# for callers of the C API, and the licences of what is linked.

set_target_properties(padlock_python PROPERTIES INSTALL_RPATH $ORIGIN/lib)
install(TARGETS padlock_python LIBRARY DESTINATION padlock COMPONENT wheel)
install(TARGETS padlock_shared LIBRARY DESTINATION padlock/lib COMPONENT wheel)
install(FILES include/padlock/padlock.h include/padlock/padlock.hpp DESTINATION padlock/include/padlock COMPONENT wheel)

# Beside each other: the command finds the library by its own place, the library the worker.
install(TARGETS padlock RUNTIME DESTINATION padlock/bin COMPONENT wheel)
install(TARGETS padlock-worker RUNTIME DESTINATION padlock/libexec COMPONENT wheel)

# LLVM, SQLite, zlib, zstd, fmt, xxHash, nlohmann-json, protozero and CLI11, as Debian has collected them.
foreach(package llvm-22-dev libsqlite3-dev zlib1g-dev libzstd-dev libfmt-dev libxxhash-dev nlohmann-json3-dev libprotozero-dev libcli11-dev)
  set(copyright /usr/share/doc/${package}/copyright)
  if(EXISTS ${copyright})
    install(FILES ${copyright} DESTINATION ${SKBUILD_METADATA_DIR}/licenses/linked RENAME ${package}.txt COMPONENT wheel)
  endif()
endforeach()
