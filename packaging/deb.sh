# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# shellcheck shell=bash
#
# The packages for Debian and its like, made by dpkg-deb of trees that are laid out here. Sourced by dist.sh.

# The newest symbol version of the C library that some file of these directories asks for: 2.34.
needed_glibc() {   # DIRECTORY...
  find "$@" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF && objdump -T "$1"' _ {} \; 2> /dev/null |
    grep -o 'GLIBC_2\.[0-9.]*' | cut -d_ -f2 | sort -uV | tail -n 1
}

# The packages that have the libraries which files need and these directories have not, parted by commas; not the C
# library's.
needed_packages() {   # DIRECTORY FILE...
  local name path
  objdump -p "${@:2}" 2> /dev/null | awk '$1 == "NEEDED" { print $2 }' | sort -u | while read -r name; do
    if [[ -n $(find "$1" -name "$name" -print -quit) ]]; then continue; fi
    path=$(ldconfig -p | awk -v name="$name" '$1 == name && /x86-64/ { print $NF; exit }')
    if [[ -n $path ]]; then dpkg-query -S "$(readlink -f "$path")" "$path" 2> /dev/null | head -n 1 | cut -d: -f1; fi
  done | sort -u | grep -vx libc6 | paste -sd, | sed 's/,/, /g'
}

# The description's first line comes after a blank, as those behind it do.
deb_control() {   # NAME VERSION DEPENDS RECOMMENDS SUGGESTS PROVIDES DIRECTORY DESCRIPTION
  printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nSection: java\nPriority: optional\n' "$1" "$2"
  printf 'Maintainer: Lull <lull@localhost>\nInstalled-Size: %s\n' \
    "$(find "$7" -type f -printf '%s\n' | awk '{ kb += int(($1 + 1023) / 1024) } END { print kb }')"
  if [[ -n $3 ]]; then printf 'Depends: %s\n' "$3"; fi
  if [[ -n $4 ]]; then printf 'Recommends: %s\n' "$4"; fi
  if [[ -n $5 ]]; then printf 'Suggests: %s\n' "$5"; fi
  if [[ -n $6 ]]; then printf 'Provides: %s\n' "$6"; fi
  printf 'Description: %s\n' "$8"
}

deb_copyright() {   # SOURCE
  cat << END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Source: $1

Files: *
Copyright: Lull's authors; of what is OpenJDK's, Oracle and others, as its files say
License: GPL-2.0-only with Classpath exception
 The text of the licence is in /usr/share/common-licenses/GPL-2.
END
}

# Sums, copyright and changelog, then the package.
deb_build() {   # NAME VERSION TREE
  local doc=$3/usr/share/doc/$1 when
  when=$(date -u -R -d "@$SOURCE_DATE_EPOCH")
  mkdir -p "$doc"
  deb_copyright "the commit $(our_commit) of Lull" > "$doc/copyright"
  printf '%s (%s) unstable; urgency=medium\n\n  * Lull %s, commit %s.\n\n -- Lull <lull@localhost>  %s\n' \
    "$1" "$2" "$LULL_VERSION" "$(our_commit)" "$when" |
    gzip -n -9 > "$doc/changelog.Debian.gz"
  find "$3" -type d -exec chmod 755 {} +
  (cd "$3" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
  find "$3" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz -z4 --build "$3" "$DIST/$1_$2_amd64.deb"
}

# At the lowest priority: whoever has another java keeps it, who has none has ours.
deb_alternatives() {   # ACTION HOME
  local tool when='[ "$1" = remove ] || [ "$1" = deconfigure ]'
  if [[ $1 == install ]]; then when='[ "$1" = configure ]'; fi
  printf '#!/bin/sh\nset -e\nif %s; then\n' "$when"
  for tool in "$2"/bin/*; do
    tool=$(basename "$tool")
    if [[ $1 == install ]]; then
      printf '  update-alternatives --install /usr/bin/%s %s /usr/lib/jvm/lull-25/bin/%s 25\n' "$tool" "$tool" "$tool"
    else
      printf '  update-alternatives --remove %s /usr/lib/jvm/lull-25/bin/%s\n' "$tool" "$tool"
    fi
  done
  printf 'fi\n'
}

deb_jdk() {   # HOME
  local name=lull-jdk-25 tree=$WORK/deb-jdk home desktop=() rest=() file
  rm -rf "$tree"
  home=$tree/usr/lib/jvm/lull-25
  mkdir -p "$tree/DEBIAN" "$(dirname "$home")"
  cp -a "$1" "$home"
  # What only a desktop loads may be missing on a server.
  while read -r file; do
    case $(basename "$file") in
      libawt_xawt.so | libsplashscreen.so | libjsound.so | libjawt.so | libfontmanager.so | libfreetype.so | libjavajpeg.so | \
        liblcms.so | libj2pcsc.so) desktop+=("$file") ;;
      *) rest+=("$file") ;;
    esac
  done < <(find "$home" -type f \( -name '*.so' -o -path '*/bin/java' \) | sort)
  local packages provides
  packages=$(needed_packages "$home" "${rest[@]}")
  # jpackage makes packages by fakeroot, and strips libraries by objcopy, as every JDK's does.
  provides=$(printf '%s, ' java-runtime java25-runtime java-sdk java25-sdk {java-runtime,java25-runtime,java-sdk,java25-sdk}-headless)
  deb_control "$name" "$VERSION" "libc6 (>= $(needed_glibc "$home"))${packages:+, $packages}" \
    "$(needed_packages "$home" "${desktop[@]}")" "binutils, fakeroot" "${provides%, }" "$home" \
    "JDK 25 with the Lull garbage collector
 OpenJDK $(jdk_version "$1") whose threads collect what only they know by themselves
 (-XX:+UseLullGC), with all of OpenJDK's other collectors. It has not been tested
 with the TCK, and must not be called Java-compatible." > "$tree/DEBIAN/control"
  deb_alternatives install "$1" > "$tree/DEBIAN/postinst"
  deb_alternatives remove "$1" > "$tree/DEBIAN/prerm"
  chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/prerm"
  deb_build "$name" "$VERSION" "$tree"
}

deb_native() {
  local name=lull-native tree=$WORK/deb-native packages
  rm -rf "$tree"
  mkdir -p "$tree/DEBIAN"
  lay_natives "$tree/usr"
  packages=$(needed_packages "$tree" "$tree"/usr/bin/lull-* "$tree"/usr/lib/lull/*.so)
  deb_control "$name" "$LULL_VERSION" "libc6 (>= $(needed_glibc "$tree"))${packages:+, $packages}" \
    "lull-jdk-25 | java-runtime-headless (>= 17)" "" "" "$tree/usr" \
    "memory helpers for JVM services: the gate, far memory, the heap budget
 liblull_gate.so, an agent that answers requests while a JVM is stopped; lull-far
 and lull-memd, heaps on other machines; lull-budget and lull-stall, memory for
 the heap or the page cache; lull doctor, whether Lull pays for a service." > "$tree/DEBIAN/control"
  # /run/lull is there from now on, and not only from the next start of the machine on. Where that cannot be, as in some chroots, it
  # is no reason not to install.
  printf '#!/bin/sh\nset -e\nif [ "$1" = configure ] && command -v systemd-tmpfiles > /dev/null; then\n  %s\nfi\n' \
    'systemd-tmpfiles --create lull.conf || true' > "$tree/DEBIAN/postinst"
  chmod 755 "$tree/DEBIAN/postinst"
  # The services are there to be enabled: nobody's memory is served unasked.
  deb_build "$name" "$LULL_VERSION" "$tree"
}
