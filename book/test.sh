#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Checks the pages, and the check: in test/ are pages, a site and a list of names in which everything is wrong that can be, and what
# must be said of them. Some seconds. The last line is "N passed, N failed, N skipped".

# shellcheck source-path=SCRIPTDIR source=check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

here=$ROOT/book/test
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# What must be said, line by line: each is a test.
same() {   # NAME EXPECTED FOUND
  local missing
  missing=$(comm -23 <(sort "$2") <(sort "$3"))
  passed=$((passed + $(sort "$2" | wc -l)))
  while IFS= read -r line; do
    [[ -n $line ]] || continue
    passed=$((passed - 1)) failed=$((failed + 1))
    say "FAILED: $1: not said: $line"
  done <<< "$missing"
  while IFS= read -r line; do
    [[ -n $line ]] || continue
    failed=$((failed + 1))
    say "FAILED: $1: said in vain: $line"
  done < <(comm -13 <(sort "$2") <(sort "$3"))
}

is() {   # NAME EXPECTED FOUND
  if [[ $3 == "$2" ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); say "FAILED: $1: '$3', not '$2'"; fi
}

status=0
pages check "$here/tree" "$here/openjdk" > "$work/tree" || status=$?
is "bad pages are found" 1 "$status"
same "pages" "$here/tree.expected" "$work/tree"

status=0
pages site "$here/site" > "$work/site" || status=$?
is "a bad site is found" 1 "$status"
same "site" "$here/site.expected" "$work/site"

pages stage "$here/tree" "$work/stage"
is "the contents are those of the index" "[Lull](README.md) [All pages](docs/README.md) # All - [Good](docs/good.md) - [Bad](docs/bad.md)" \
  "$(sed '1d;/^$/d' "$work/stage/SUMMARY.md" | head -n 5 | tr '\n' ' ' | sed 's/ $//')"
is "a link to what is not in the site is none" "heading](#a-heading-with-code--more), a directory." "$(sed -n 6p "$work/stage/docs/good.md")"

is "code that is too long for a narrow screen is marked, and is text all the same" \
  '<code class="long">make LULL&#95;BUILD&#61;/tmp/&#60;of-a-long-name&#62; test</code>, and <code class="long">lull-memd --memory 1g --memory 2g --memory 3g</code>.' "$(grep long-name "$work/stage/docs/good.md")"

status=0
(check_pages) > "$work/ours" 2>&1 || status=$?
is "our pages" 0 "$status"
if ((status != 0)); then grep -v '^==>' "$work/ours" | head -n 40 | sed 's/^/FAILED: /'; fi

say "$passed passed, $failed failed, 0 skipped"
if ((failed)); then exit 1; fi
