# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
# Writes a C++ file whose embedded_file(name) returns the text of each of FILES (relative to SOURCE_DIR), of PTX without comments
# and blank lines.
set(CODE "#include \"sw/gpu/runtime/embedded.h\"\n\n#include <stdexcept>\n#include <string>\n\nnamespace sluice::gpu {\n\n")
string(APPEND CODE "std::string_view embedded_file(std::string_view name) {\n")
foreach(FILE ${FILES})
  file(READ ${SOURCE_DIR}/${FILE} TEXT)
  if(FILE MATCHES "[.]ptx$")
    string(REGEX REPLACE "[ \t]*//[^\n]*" "" TEXT "${TEXT}")
    string(REGEX REPLACE "(^|\n)\n+" "\\1" TEXT "${TEXT}")
  endif()
  string(APPEND CODE "  if (name == \"${FILE}\")\n    return R\"sluice(${TEXT})sluice\";\n")
endforeach()
string(APPEND CODE "  throw std::out_of_range(\"no embedded file \" + std::string(name));\n}\n\n}  // namespace sluice::gpu\n")
file(WRITE ${OUTPUT} "${CODE}")
