# Installs libpadlock and libpadlock_runtime with their headers, the files by which CMake and pkg-config find
# them, and the command. Relocatable: nothing installed names where it was installed to.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(cmake/Pages.cmake)
set(padlock_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/padlock)

install(FILES include/padlock/padlock.h include/padlock/padlock.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/padlock COMPONENT development)

foreach(kind shared static)
  if(TARGET padlock_${kind})
    foreach(part library runtime)
      string(REPLACE library padlock target ${part})
      string(REPLACE runtime padlock_runtime target ${target})
      install(TARGETS ${target}_${kind} EXPORT padlock-${kind}
              LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part} NAMELINK_COMPONENT development
              ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
    endforeach()
    install(EXPORT padlock-${kind} NAMESPACE padlock:: DESTINATION ${padlock_cmake_dir} COMPONENT development)
  endif()
endforeach()

configure_package_config_file(cmake/padlock-config.cmake.in ${PROJECT_BINARY_DIR}/padlock-config.cmake
                              INSTALL_DESTINATION ${padlock_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/padlock-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/padlock-config.cmake ${PROJECT_BINARY_DIR}/padlock-config-version.cmake
        DESTINATION ${padlock_cmake_dir} COMPONENT development)

# From the folder of padlock.pc to the prefix: lib may have a part for the architecture.
file(RELATIVE_PATH padlock_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(name padlock padlock_runtime)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/padlock.pc ${PROJECT_BINARY_DIR}/padlock_runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# A package of Debian has no programs beside a library.
set(padlock_worker_part library)
if(PADLOCK_DEBIAN)
  set(padlock_worker_part command)
endif()
if(TARGET padlock-worker)
  install(TARGETS padlock-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/padlock COMPONENT ${padlock_worker_part})
endif()
if(TARGET padlock)
  install(TARGETS padlock RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  padlock_install_pages(${CMAKE_INSTALL_DOCDIR} command)
endif()
if(TARGET padlock_manual)
  set(padlock_manual_dir ${PROJECT_BINARY_DIR}/generated/manual)
  set(padlock_page ${padlock_manual_dir}/padlock.1)
  if(PADLOCK_DEBIAN)
    set(padlock_page ${padlock_manual_dir}/padlock.1.gz)
    install(CODE "execute_process(COMMAND gzip -9nkf ${padlock_manual_dir}/padlock.1 COMMAND_ERROR_IS_FATAL ANY)" COMPONENT command)
  endif()
  install(FILES ${padlock_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  install(FILES ${padlock_manual_dir}/padlock.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME padlock COMPONENT command)
  install(FILES ${padlock_manual_dir}/_padlock DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
  install(FILES ${padlock_manual_dir}/padlock.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          COMPONENT command)
endif()
if(PADLOCK_DEBIAN)
  include(cmake/Debian.cmake)
  return()
endif()
# With each part, since each may be all that is installed.
foreach(part library runtime development command)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT ${part})
endforeach()
