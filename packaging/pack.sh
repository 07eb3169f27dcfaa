# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# shellcheck shell=bash
#
# Archives that are the same whenever, wherever and by whomever the same files are packed. Sourced after lib.sh;
# SOURCE_DATE_EPOCH is the time of all that is in them.

pack_tar() {   # ARCHIVE DIRECTORY NAME: NAME, which is in DIRECTORY
  rm -f "$1" "$1.new"
  tar -C "$2" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go+rX,go-w -cf - "$3" | gzip -n > "$1.new" &&
    mv "$1.new" "$1"
}

pack_zip() {   # ARCHIVE DIRECTORY: all that is in it
  rm -f "$1"
  # A zip has local times, of two seconds.
  find "$2" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} + &&
    (cd "$2" && find . -type f -printf '%P\n' | sort | TZ=UTC zip -q -X "$1" -@)
}
