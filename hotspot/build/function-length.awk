# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What function-length.sh and rust-function-length.sh say of the functions that they find. They call end_function with the line
# in which one begins, at the line that ends it. Variables: most, the lines that one may have; root, the repository; least,
# how many functions there must be; what, how the report begins.

function end_function(head,   lines, file) {
  lines = FNR - head + 1
  functions++
  if (lines > longest) longest = lines
  if (lines <= most) return
  file = FILENAME
  sub(root, "", file)
  print "error: " file ":" head ": a function of " lines " lines, which may have " most ": give its parts names"
  failed++
}

END {
  if (functions < least) { print "error: only " functions + 0 " functions were found: the sources are not understood"; failed++ }
  if (failed) { print what ": " failed " wrong"; exit 1 }
  print what ": " functions " functions, the longest has " longest " lines"
}
