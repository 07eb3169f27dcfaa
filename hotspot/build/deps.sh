#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Checks that the machine has what the build needs. As root on Debian or Ubuntu it installs what is missing from the
# system's own packages; anywhere else it says what is missing, prints the command that would install it, and stops.
#
#   deps.sh          what `make jdk` needs
#   deps.sh full     and what `make image-full` needs (libraries that the distribution's source package has stripped; pandoc, which makes the man pages)
#   deps.sh dist     and what `make dist` needs (Maven, what makes packages)
#   deps.sh bench    and what the benchmarks and their tests need (Maven; .mvn/jvm.config has it give up a download that has stalled for a
#                    minute and try again, where its own limit is half an hour)

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

tools=(autoconf ccache zip unzip file make gcc g++ patch xz m4)
headers=(alsa/asoundlib.h cups/cups.h fontconfig/fontconfig.h ft2build.h X11/Xlib.h X11/extensions/Xext.h
  X11/extensions/Xrender.h X11/extensions/Xrandr.h X11/extensions/XTest.h X11/Intrinsic.h X11/extensions/XInput.h)
packages=(autoconf ccache zip unzip file make gcc g++ patch xz-utils m4 libasound2-dev libcups2-dev libfontconfig1-dev
  libfreetype-dev libx11-dev libxext-dev libxrender-dev libxrandr-dev libxtst-dev libxt-dev libxi-dev)
if [[ ${1:-} == full ]]; then
  headers+=(zlib.h jpeglib.h gif_lib.h png.h lcms2.h harfbuzz/hb.h PCSC/winscard.h)
  tools+=(pandoc)
  packages+=(pandoc zlib1g-dev libjpeg-dev libgif-dev libpng-dev liblcms2-dev libharfbuzz-dev libpcsclite-dev)
fi
if [[ ${1:-} == bench ]]; then tools+=(mvn); packages+=(maven); fi
if [[ ${1:-} == dist ]]; then tools+=(mvn dpkg-deb objdump strip); packages+=(maven dpkg binutils); fi

# The header is there if the compiler finds it, wherever the distribution keeps it. Some lean on others.
has_header() {
  local dir
  for dir in /usr/include /usr/include/freetype2 /usr/local/include; do [[ -e $dir/$1 ]] && return 0; done
  have gcc && printf '#include <stdio.h>\n#include <%s>\n' "$1" | gcc -E -x c - > /dev/null 2>&1
}

missing=()
for t in "${tools[@]}"; do have "$t" || missing+=("$t"); done
for h in "${headers[@]}"; do has_header "$h" || missing+=("<$h>"); done
if have g++ && ! printf 'static_assert(__cplusplus >= 201703L);' | g++ -std=c++17 -fsyntax-only -x c++ - 2> /dev/null; then
  die "the C++ compiler $(command -v g++) ($(g++ -dumpfullversion)) knows no C++17" "install a newer g++ (10 or later)"
fi
if [[ -z $(find_boot_jdk) ]]; then missing+=("JDK 25"); packages+=(openjdk-25-jdk-headless); fi

((${#missing[@]})) || exit 0
printf -v list '%s, ' "${missing[@]}"
list=${list%, }

if ! have apt-get || ! have dpkg-query; then
  die "missing: $list" "install them with the system's package manager, then run this again"
fi

wanted=()
for p in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$p" 2> /dev/null || true) == installed ]] || wanted+=("$p")
done
# All packages there and still something missing: a broken installation we cannot repair.
((${#wanted[@]})) || die "missing: $list" "though the packages that should hold them are installed"

if [[ $(id -u) != 0 ]]; then
  die "missing: $list" "this installs them:" "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${wanted[*]}"
fi
say "==> installing what the build needs: ${wanted[*]}"
export DEBIAN_FRONTEND=noninteractive
mkdir -p "$LOGS"
log=$LOGS/apt-install.log
apt-get update > "$log" 2>&1 || note "apt-get update complained, see $log"
if [[ " ${wanted[*]} " == *" openjdk-25-jdk-headless "* && -z $(apt-cache --names-only search '^openjdk-25-jdk-headless$') ]]; then
  die "no JDK 25 is installed, and this distribution has no package openjdk-25-jdk-headless" \
    "unpack any vendor's JDK 25 and say where:  make ... JAVA_HOME=/path/to/jdk-25"
fi
apt-get install -y --no-install-recommends "${wanted[@]}" >> "$log" 2>&1 ||
  die "apt-get install ${wanted[*]} failed" "$(tail -n 3 "$log")" "the whole output is in $log"
