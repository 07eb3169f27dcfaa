#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# pictures.sh [PAGE...]: pictures of the site's pages in a real browser, 480 and 1280 pixels wide, at build/docs-pictures; default: README,
# docs/concepts and docs/reference/flags. Fails if a page is wider than its window, or if something reaches beyond it
# that cannot be scrolled to. People look at the rest: are drawings legible, do tables scroll.
#
# Needs the site (`make docs`), and Chromium, which is not installed: Debian's package is chromium or chromium-headless-shell.
#
#   LULL_CHROMIUM   the browser (default: chromium-headless-shell, chromium or google-chrome on the PATH)
#   LULL_WIDTHS     widths in pixels (default: 480 1280)
#   LULL_BUILD      the build directory (default: build/)

# shellcheck source-path=SCRIPTDIR source=../hotspot/build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../hotspot/build/lib.sh"

case ${1:-} in
  --help | -h) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac

site=$BUILD/docs
out=$BUILD/docs-pictures
[[ -f $site/index.html ]] || die "there is no site at $site" "make docs"

browser=${LULL_CHROMIUM:-}
for name in chromium-headless-shell chromium google-chrome; do
  if [[ -z $browser ]] && have "$name"; then browser=$name; fi
done
[[ -n $browser ]] || die "there is no Chromium to look at pages with" "install the package chromium, or set LULL_CHROMIUM to the program"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The page in a frame of WIDTH pixels, for a browser's own window may have a least width. What is measured stands in the frame's title.
frame() {   # WIDTH PAGE HEIGHT
  cat << END
<!DOCTYPE html><meta charset="utf-8"><title></title>
<style>body { margin: 0; } iframe { border: 0; display: block; width: $1px; height: $3px; }</style>
<iframe src="file://$2"></iframe>
<script>
  const frame = document.querySelector('iframe');
  // Within the page: that all of it can be moved aside does not count.
  const scrolls = e => e.tagName !== 'MAIN' && (getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentNode));
  frame.onload = () => setTimeout(() => {
    const page = frame.contentDocument;
    const beyond = [...page.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > $1 + 1 && !scrolls(e));
    document.title = ['wide', page.documentElement.scrollWidth, 'high', page.documentElement.scrollHeight,
      'beyond', beyond.length, beyond.map(e => e.tagName + ' ' + e.textContent.slice(0, 40)).slice(0, 3).join('; ')].join(' ');
  }, 500);
</script>
END
}

# A profile of its own: nothing of the user's is read or changed.
browse() {
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files --user-data-dir="$work/profile" \
    --virtual-time-budget=5000 "$@" 2> "$work/log" || true
}

taken=0 wrong=0
rm -rf "$out"
mkdir -p "$out"
(($#)) || set -- README docs/concepts docs/reference/flags
for page in "$@"; do
  file=$site/${page%.html}.html
  [[ -f $file ]] || die "there is no page $page in the site" "names are as docs/concepts: $site"
  for width in ${LULL_WIDTHS:-480 1280}; do
    frame "$width" "$file" 900 > "$work/frame.html"
    measured=$(browse --window-size=1400,900 --dump-dom "file://$work/frame.html" | sed -n 's:.*<title>\(.*\)</title>.*:\1:p')
    [[ $measured =~ ^wide\ ([0-9]+)\ high\ ([0-9]+)\ beyond\ ([0-9]+)\ (.*)$ ]] ||
      die "$browser did not show $file" "$(tail -n 3 "$work/log")"
    wide=${BASH_REMATCH[1]} high=${BASH_REMATCH[2]} beyond=${BASH_REMATCH[3]} which=${BASH_REMATCH[4]}
    if ((wide > width)); then say "error: $page is $wide pixels wide in a window of $width: let what is wide scroll"; wrong=$((wrong + 1)); fi
    if ((beyond)); then say "error: $page has what $width pixels cannot show: $which"; wrong=$((wrong + 1)); fi
    # Browsers draw at most so much.
    if ((high > 16000)); then high=16000; fi
    frame "$width" "$file" "$high" > "$work/frame.html"
    picture=$out/$(tr / - <<< "${page%.html}")-$width.png
    browse --window-size="$width,$high" --screenshot="$picture" "file://$work/frame.html"
    [[ -s $picture ]] || die "$browser made no picture of $page" "$(tail -n 3 "$work/log")"
    taken=$((taken + 1))
  done
done
say "$out: $taken pictures, $wrong wrong"
if ((wrong)); then exit 1; fi
