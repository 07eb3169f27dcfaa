#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Lays our tree over OpenJDK's in build/openjdk:
#   1. the files under hotspot/src, hotspot/test and hotspot/make, at the same place there;
#   2. hotspot/patches/*.patch, in the order of their names, on upstream's own text.
# Only what differs is written, so that the next build compiles what changed and no more. What we laid before and have no
# more is removed; what we patched before and patch no more is upstream's text again.
#
# Files edited by hand in build/openjdk stay as they are, and each run names them, until a patch changes the same file:
# then the edited one is moved to build/openjdk-edited.
#
#   overlay.sh           brings the tree up to date
#   overlay.sh --diff    shows what was edited by hand, as a patch
#   overlay.sh --reset   undoes it

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

OURS=$ROOT/hotspot
PATCHED=$BUILD/openjdk-patched     # upstream's files with our patches
EDITED=$BUILD/openjdk-edited       # what was edited by hand and had to go
MANIFEST=$STATE/overlay            # one line per file: laid|patched|edited, SHA-256, path

# Lines "SHA path" of those files of the list on standard input that exist in DIR.
hashes() { local f; (cd "$1" && while IFS= read -r f; do if [[ -f $f ]]; then printf '%s\0' "$f"; fi; done | xargs -0 -r sha256sum | sed 's/^\([0-9a-f]*\) [ *]/\1 /'); }

in_manifest() { if [[ -f $MANIFEST ]]; then sed -n "s/^$1 [0-9a-f]* //p" "$MANIFEST" | sort; fi; }

our_files() {
  (cd "$OURS" && for d in src test make; do if [[ -d $d ]]; then find "$d" -type f; fi; done) |
    grep -v -e '^test/[^/]*$' -e '^test/groups/' -e '^test/heap-dump/' -e '^test/image/' -e '^test/jcstress/' -e '^test/barrier-code/' -e '~$' -e '\.orig$' -e '\.rej$' -e '\.sw[op]$' | sort || true
}

patch_files() { find "$OURS/patches" -maxdepth 1 -name '*.patch' 2> /dev/null | sort; }

# The paths a patch touches. A patch that makes a new file is refused: a new file belongs under hotspot/.
touched_by() {
  local patch=$1 new
  new=$(awk '/^--- \/dev\/null/ { getline; print $2 }' "$patch")
  [[ -z $new ]] || die "${patch#"$ROOT/"} makes a new file, ${new#b/}" "put the file at hotspot/${new#b/}; patches are for upstream's own files"
  sed -n 's|^+++ [^/]*/\([^	]*\).*|\1|p' "$patch"
}

# Shows which hunk of which file did not apply, from patch's own words.
explain_failure() {
  local patch=$1 out=$2 file='' hunk
  while IFS= read -r line; do
    if [[ $line =~ ^(patching|checking)\ file\ (.*)$ ]]; then file=${BASH_REMATCH[2]}; fi
    if [[ $line =~ ^Hunk\ \#([0-9]+)\ FAILED\ at\ ([0-9]+) ]]; then
      hunk=${BASH_REMATCH[1]}
      printf '       %s: hunk %s (near line %s) does not apply:\n' "$file" "$hunk" "${BASH_REMATCH[2]}" >&2
      awk -v file="$file" -v hunk="$hunk" '
        /^\+\+\+ / { f = $2; sub(/^[^\/]*\//, "", f); n = 0; show = 0; next }
        /^--- / { show = 0 }
        /^diff / { show = 0 }
        /^@@ / { n++; show = (f == file && n == hunk) }
        show { print "       | " $0 }' "$patch" >&2
    elif [[ $line == *"can't find file"* || $line == *"malformed patch"* ]]; then
      printf '       %s\n' "$line" >&2
    fi
  done < "$out"
}

# Upstream's files with all patches applied, in PATCHED.
apply_patches() {
  local work patch name f missing=() fuzz
  : > "$STATE/patched.new"
  local patches
  mapfile -t patches < <(patch_files)
  for patch in "${patches[@]}"; do touched_by "$patch"; done | sort -u > "$STATE/patched.new"
  while IFS= read -r f; do [[ -f $PRISTINE/$f ]] || missing+=("$f"); done < "$STATE/patched.new"
  if ((${#missing[@]})); then
    "$SCRIPTS/fetch-source.sh" --pristine "${missing[@]}" || die "a patch touches ${missing[*]}, and upstream has no such file" \
      "$(grep -lF -- "${missing[0]}" "${patches[@]}" | sed "s|^$ROOT/||" | tr '\n' ' ')"
  fi
  work=$STATE/work
  rm -rf "$work"
  mkdir -p "$work/a"
  while IFS= read -r f; do mkdir -p "$work/a/${f%/*}"; cp "$PRISTINE/$f" "$work/a/$f"; done < "$STATE/patched.new"
  for patch in "${patches[@]}"; do
    name=${patch#"$ROOT/"}
    # With 2 the text around a hunk would not count at all.
    for fuzz in 0 1; do
      rm -rf "$work/b"
      cp -a "$work/a" "$work/b"
      if patch -d "$work/b" -p1 -N -f --fuzz=$fuzz --no-backup-if-mismatch -r /dev/null < "$patch" > "$work/out" 2>&1; then
        if ((fuzz)); then note "$name applies only loosely (the text around a hunk has changed): refresh it"; fi
        break
      fi
      if ((fuzz)); then
        printf 'error: %s does not apply to OpenJDK %s\n' "$name" "$(sed -n 's/^version=//p' "$STATE/source")" >&2
        explain_failure "$patch" "$work/out"
        exit 1
      fi
      cp "$work/out" "$work/out.strict"
    done
    rm -rf "$work/a"
    mv "$work/b" "$work/a"
  done
  rm -rf "$PATCHED"
  mv "$work/a" "$PATCHED"
  rm -rf "$work"
}

# Makes the tree's FILE say what WANTED says, and keeps what somebody has edited.
put() {
  local wanted=$1 f=$2 last=$3 now
  cmp -s "$wanted" "$TREE/$f" && return
  if [[ -f $TREE/$f ]] && ! cmp -s "$TREE/$f" "$PRISTINE/$f"; then
    now=$(sha256sum < "$TREE/$f"); now=${now%% *}
    if [[ $now != "$last" ]]; then
      if [[ $(sha256sum < "$wanted") == "$last "* && -z ${RESET:-} ]]; then return; fi   # nothing new from us: stays edited
      mkdir -p "$EDITED/${f%/*}"
      cp --backup=numbered "$TREE/$f" "$EDITED/$f"
      note "$f was edited in build/openjdk; that text is now ${EDITED#"$ROOT/"}/$f"
    fi
  fi
  mkdir -p "$TREE/${f%/*}"
  cp "$wanted" "$TREE/$f"
  CHANGED+=("$f")
}

# Upstream files that differ from what we would have there.
edited_files() {
  local d f
  for d in src/hotspot src/jdk.hotspot.agent make/autoconf make/conf make/hotspot; do
    { LC_ALL=C diff -rq "$PRISTINE/$d" "$TREE/$d" || true; } | sed -n "s|^Files .* and $TREE/\(.*\) differ\$|\1|p"
  done | sort > "$STATE/differ"
  comm -23 "$STATE/differ" "$STATE/patched.new"
  while IFS= read -r f; do cmp -s "$PATCHED/$f" "$TREE/$f" || printf '%s\n' "$f"; done < "$STATE/patched.new"
}

base_of() { if [[ -f $PATCHED/$1 ]]; then printf '%s' "$PATCHED/$1"; else printf '%s' "$PRISTINE/$1"; fi; }

overlay() {
  local f sha kind count CHANGED
  [[ -f $STATE/source ]] || die "there is no source tree at $TREE" "fetch it first:  hotspot/build/fetch-source.sh"

  # Our own files.
  our_files > "$STATE/laid.new"
  CHANGED=()
  while IFS= read -r f; do
    rm -f "$TREE/$f"
    CHANGED+=("$f (removed)")
    rmdir -p --ignore-fail-on-non-empty "$TREE/${f%/*}" 2> /dev/null || true
  done < <(in_manifest laid | comm -23 - "$STATE/laid.new")
  while IFS= read -r f; do
    [[ ! -e $PRISTINE/$f ]] || die "hotspot/$f is a file of upstream's own" "what we change in it belongs in a patch under hotspot/patches"
    if ! cmp -s "$OURS/$f" "$TREE/$f"; then mkdir -p "$TREE/${f%/*}"; cp "$OURS/$f" "$TREE/$f"; CHANGED+=("$f"); fi
  done < "$STATE/laid.new"

  # Upstream's files with our patches.
  apply_patches
  declare -A last=()
  if [[ -f $MANIFEST ]]; then
    while read -r kind sha f; do if [[ $kind == patched ]]; then last[$f]=$sha; fi; done < "$MANIFEST"
  fi
  while IFS= read -r f; do put "$PATCHED/$f" "$f" "${last[$f]:-}"; done < "$STATE/patched.new"
  while IFS= read -r f; do put "$PRISTINE/$f" "$f" "${last[$f]:-}"; done < <(in_manifest patched | comm -23 - "$STATE/patched.new")

  # What else is in the tree.
  edited_files > "$STATE/edited.new"
  if [[ -n ${RESET:-} ]]; then
    while IFS= read -r f; do cp "$(base_of "$f")" "$TREE/$f"; CHANGED+=("$f (as before)"); done < "$STATE/edited.new"
    : > "$STATE/edited.new"
  fi
  count=$(wc -l < "$STATE/edited.new")
  if ((count)); then
    note "$count upstream file(s) in build/openjdk are edited by hand and are built so (overlay.sh --diff shows how):"
    head -n 10 "$STATE/edited.new" | sed 's/^/        /' >&2
  fi

  {
    hashes "$TREE" < "$STATE/laid.new" | sed 's/^/laid /'
    hashes "$PATCHED" < "$STATE/patched.new" | sed 's/^/patched /'
    hashes "$TREE" < "$STATE/edited.new" | sed 's/^/edited /'
  } > "$MANIFEST.new"
  mv "$MANIFEST.new" "$MANIFEST"
  if ((${#CHANGED[@]})); then
    say "==> new in build/openjdk: ${#CHANGED[@]} file(s)"
    printf '    %s\n' "${CHANGED[@]:0:8}"
    if ((${#CHANGED[@]} > 8)); then say "    and $((${#CHANGED[@]} - 8)) more"; fi
  fi
  rm -f "$STATE"/{laid,patched,edited}.new "$STATE/differ"
}

show_edits() {
  local f
  overlay > /dev/null 2>&1
  in_manifest edited | while IFS= read -r f; do
    diff -u --label "a/$f" --label "b/$f" "$(base_of "$f")" "$TREE/$f" || true
  done
}

case ${1:-} in
  '') locked overlay ;;
  --diff) locked show_edits ;;
  --reset) RESET=1; locked overlay ;;
  *) die "overlay.sh knows --diff and --reset, not '$1'" ;;
esac
