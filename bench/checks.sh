# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by tests that are scripts: counts what has passed and failed. Such a test ends with end_of_checks.

passed=0
failed=0
ok() { passed=$((passed + 1)); }

# not_ok WORDS...: what has failed, and how.
not_ok() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}

# Prints the line "N passed, N failed"; fails if anything has.
end_of_checks() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
