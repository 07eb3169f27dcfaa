#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# first-minutes-table.sh NAME-OF-A NAME-OF-B: the table of first-minutes.sh, from its results on standard input. A line of these: service, AOT cache, round,
# side, seconds to the first answer, processor seconds to it; answers and processor seconds of the first 30, 60 and 120 seconds.

set -euo pipefail
[ $# = 2 ] || { echo "usage: first-minutes-table.sh NAME-OF-A NAME-OF-B < results" >&2; exit 2; }
awk -v a="$1" -v b="$2" '
  function sorted(values, n,   i, j, t) {
    for (i = 2; i <= n; i++) for (j = i; j > 1 && values[j] < values[j - 1]; j--) { t = values[j]; values[j] = values[j - 1]; values[j - 1] = t }
  }
  function median(values, n) { return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2 }
  # Of a column of a key and a side.
  function middle(key, side, column,   i, v) {
    for (i = 1; i <= count[key]; i++) v[i] = value[key, side, order[key, i], column] + 0
    sorted(v, count[key])
    return median(v, count[key])
  }
  function ratio(key, column,   i, n, v, x, y) {
    for (i = 1; i <= count[key]; i++) {
      x = value[key, "a", order[key, i], column]; y = value[key, "b", order[key, i], column]
      if (y > 0) v[++n] = x / y
    }
    if (!n) return "-"
    sorted(v, n)
    return sprintf("%.2f (%.2f to %.2f)", median(v, n), v[1], v[n])
  }
  {
    key = $1 " " $2
    if (!(key in count)) keys[++all] = key
    if ($4 == "a") order[key, ++count[key]] = $3
    value[key, $4, $3, 1] = $5
    value[key, $4, $3, 2] = $6
    for (h = 0; h < 3; h++) {
      answers = $(7 + 2 * h); used = $(8 + 2 * h)
      value[key, $4, $3, 3 + 3 * h] = answers
      value[key, $4, $3, 4 + 3 * h] = used
      value[key, $4, $3, 5 + 3 * h] = used > 0 ? answers / used : 0
    }
  }
  END {
    split("first answer, s|processor s to it|30 s: answers|processor s|answers/s of it|60 s: answers|processor s|answers/s of it|120 s: answers|processor s|answers/s of it", head, "|")
    line = sprintf("%-8s %-3s %-14s", "service", "AOT", "")
    for (c = 1; c <= 11; c++) line = line sprintf(" %19s", head[c])
    print line
    for (k = 1; k <= all; k++) {
      key = keys[k]; split(key, part, " ")
      for (side = 1; side <= 3; side++) {
        line = sprintf("%-8s %-3s %-14s", part[1], part[2], side == 1 ? a : side == 2 ? b : "A to B")
        for (c = 1; c <= 11; c++)
          line = line sprintf(" %19s", side == 3 ? ratio(key, c) : sprintf(c <= 2 ? "%.2f" : c % 3 == 0 ? "%.0f" : "%.1f", middle(key, side == 1 ? "a" : "b", c)))
        print line
      }
    }
  }'
