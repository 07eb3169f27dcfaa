#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# first-minutes-table.sh NAME-OF-A NAME-OF-B: the table of first-minutes.sh, from its results on standard input. A line of these: service, AOT cache, round,
# side, seconds to the first answer, processor seconds to it; answers and processor seconds of the first 30, 60 and 120 seconds; answers of the first 10, 20 and 40
# processor seconds, or - where it has not used as many.

set -euo pipefail
[ $# = 2 ] || { echo "usage: first-minutes-table.sh NAME-OF-A NAME-OF-B < results" >&2; exit 2; }
awk -v a="$1" -v b="$2" '
  BEGIN { COLUMNS = 11 }
  function number(value, form) { return value == "-" ? "-" : sprintf(form, value) }
  function sorted(values, n,   i, j, t) {
    for (i = 2; i <= n; i++) for (j = i; j > 1 && values[j] < values[j - 1]; j--) { t = values[j]; values[j] = values[j - 1]; values[j - 1] = t }
  }
  function median(values, n) { return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2 }
  # Of a column of a key and a side, over the rounds that have it.
  function middle(key, side, column,   i, n, v, x) {
    for (i = 1; i <= count[key]; i++) if ((x = value[key, side, order[key, i], column]) != "-") v[++n] = x + 0
    if (!n) return "-"
    sorted(v, n)
    return median(v, n)
  }
  function ratio(key, column,   i, n, v, x, y) {
    for (i = 1; i <= count[key]; i++) {
      x = value[key, "a", order[key, i], column]; y = value[key, "b", order[key, i], column]
      if (x != "-" && y > 0) v[++n] = x / y
    }
    if (!n) return "-"
    sorted(v, n)
    return sprintf("%.2f (%.2f to %.2f)", median(v, n), v[1], v[n])
  }
  {
    key = $1 " " $2
    if (!(key in count)) keys[++all] = key
    if ($4 == "a") order[key, ++count[key]] = $3
    for (c = 1; c <= COLUMNS; c++) value[key, $4, $3, c] = $(c + 4)
  }
  END {
    split("first answer, s|processor s to it|30 s: answers|processor s|60 s: answers|processor s|120 s: answers|processor s|10 processor s|20: answers|40: answers", head, "|")
    line = sprintf("%-8s %-3s %-14s", "service", "AOT", "")
    for (c = 1; c <= COLUMNS; c++) line = line sprintf(" %19s", head[c])
    print line
    for (k = 1; k <= all; k++) {
      key = keys[k]; split(key, part, " ")
      for (side = 1; side <= 3; side++) {
        line = sprintf("%-8s %-3s %-14s", part[1], part[2], side == 1 ? a : side == 2 ? b : "A to B")
        for (c = 1; c <= COLUMNS; c++)
          line = line sprintf(" %19s", side == 3 ? ratio(key, c) : number(middle(key, side == 1 ? "a" : "b", c), c <= 2 ? "%.2f" : c <= 8 && c % 2 == 0 ? "%.1f" : "%.0f"))
        print line
      }
    }
  }'
