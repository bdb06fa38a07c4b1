# AArch64 from any machine: Debian's cross compiler, its packages of arm64 in a folder (scripts/make_sysroot.sh), and
# qemu-user for what the build and its tests run. ./dev build --preset=aarch64 makes the folder.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

cmake_path(SET padlock_sysroot NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot)
set(CMAKE_SYSROOT ${padlock_sysroot})
set(CMAKE_FIND_ROOT_PATH ${padlock_sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${padlock_sysroot})
