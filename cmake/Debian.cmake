# Debian packages by CPack, with PADLOCK_DEBIAN: libpadlock0, libpadlock-runtime0, libpadlock-dev and padlock. ./dev deb makes them.
# Included by Install.cmake, whose components are the packages' contents.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME padlock)
set(CPACK_PACKAGE_VENDOR "Padlock")
set(CPACK_PACKAGE_CONTACT "Padlock maintainers <maintainers@padlock.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# name, component, section, summary, what is below it, what it needs beside what its files are linked with.
function(padlock_debian_package name component section summary text depends)
  string(TOUPPER ${component} upper)
  foreach(setting PACKAGE_NAME=${name} FILE_NAME=DEB-DEFAULT PACKAGE_SECTION=${section} PACKAGE_SHLIBDEPS=ON PACKAGE_DEPENDS=${depends})
    string(REGEX MATCH "^([^=]*)=(.*)$" _ "${setting}")
    set(CPACK_DEBIAN_${upper}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endforeach()
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
  # What every package has of its own.
  set(made ${PROJECT_BINARY_DIR}/debian/${name})
  file(MAKE_DIRECTORY ${made})
  file(WRITE ${made}/changelog "padlock (${PROJECT_VERSION}) unstable; urgency=medium

  * CHANGELOG.md of the sources lists the changes of each version.

 -- ${CPACK_PACKAGE_CONTACT}  ${padlock_date}
")
  execute_process(COMMAND gzip -9nf ${made}/changelog COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${made}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endfunction()

# The date of the commit, so that two builds are equal.
set(ENV{LC_ALL} C)
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%cD OUTPUT_VARIABLE padlock_date OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)

set(same "(= ${PROJECT_VERSION})")
padlock_debian_package(libpadlock0 library libs "compiler of tensor padding: shared library"
  "Padlock compiles small tensor programs of padding and elementwise operations\nover symbolic sizes, and proves each access to be in range.\n.\nThis package has the library with the compiler." "")
padlock_debian_package(libpadlock-runtime0 runtime libs "compiler of tensor padding: runtime for compiled packs"
  "Runs packs, files of compiled kernels, without a compiler.\n.\nThis package has the runtime library alone." "")
padlock_debian_package(libpadlock-dev development libdevel "compiler of tensor padding: development files"
  "Headers for C and C++, static libraries, and the files by which CMake and\npkg-config find the library."
  "libpadlock0 ${same}, libpadlock-runtime0 ${same}")
# Of use with the static libraries alone. With LLVM's they take 780 MB.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "llvm-22-dev, libfmt-dev, libsqlite3-dev")
padlock_debian_package(padlock command devel "compiler of tensor padding: command"
  "The command runs, proves, explains, packs and tunes programs of padding. With\nit come completions for shells, its manual page, documentation and examples." "")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS padlock)
foreach(part LIBRARY RUNTIME)
  set(CPACK_DEBIAN_${part}_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/${part}/shlibs ${PROJECT_BINARY_DIR}/debian/${part}/triggers)
  file(WRITE ${PROJECT_BINARY_DIR}/debian/${part}/triggers "activate-noawait ldconfig\n")
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/debian/LIBRARY/shlibs "libpadlock ${PROJECT_VERSION_MAJOR} libpadlock0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/RUNTIME/shlibs "libpadlock_runtime ${PROJECT_VERSION_MAJOR} libpadlock-runtime0 (>= ${PROJECT_VERSION})\n")
# The worker goes with the command, so that two versions of the library can be installed side by side.
include(CPack)
