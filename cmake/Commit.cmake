# Writes the header that names the commit a build is made of, if that has changed; run by each build.
# usage: cmake -DSOURCE=... -DHEADER=... -P Commit.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT [[
#pragma once

namespace padlock::tools {

inline constexpr const char* kCommit = "@commit@";

}  // namespace padlock::tools
]] @ONLY)
