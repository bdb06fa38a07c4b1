# The pages with the examples that they run, laid out as in the sources so that their links hold.
function(padlock_install_pages folder component)
  install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${folder} COMPONENT ${component})
  install(DIRECTORY docs DESTINATION ${folder} COMPONENT ${component} FILES_MATCHING PATTERN *.md PATTERN *.svg)
  install(DIRECTORY examples DESTINATION ${folder} COMPONENT ${component} PATTERN CMakeLists.txt EXCLUDE PATTERN demo.cpp EXCLUDE)
endfunction()
