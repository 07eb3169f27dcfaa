# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Sourced by run.sh, after common.sh: what happens to the disk and to the memory limit while a run goes on. A run in which something of that did not
# happen is not one under the conditions that its results would name.

# happen FILE NUMBERS DISK MEMORY EVENT...: the events, "SECONDS:iops=N" and "SECONDS:memory=MB", at their times from now on. The disk of these numbers has
# its throttle in the one file, and the limit is in the other; what has happened is in FILE, a line for each.
happen() {
  local file=$1 numbers=$2 disk=$3 limit=$4 event value begin=$SECONDS
  shift 4
  : > "$file"
  for event; do
    value=${event#*=}
    sleep $((${event%%:*} - (SECONDS - begin) > 0 ? ${event%%:*} - (SECONDS - begin) : 0))
    echo "  $event"
    case $event in
      *:iops=*) echo "$numbers $value" > "$disk" || continue ;;
      *:memory=*) echo $((value * 1024 * 1024)) > "$limit" || continue ;;
    esac
    echo "$event" >> "$file"
  done
}

# have_happened RUN FILE EVENT...: dies unless all have.
have_happened() {
  local run=$1 file=$2 event
  shift 2
  for event; do
    grep -qxF "$event" "$file" || die "$run: $event has not happened: it was refused (too much in use, or no throttle), or the run was over before"
  done
}
