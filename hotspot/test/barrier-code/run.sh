#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh [METHOD...]: the machine code that C2 makes of the commonest stores of references (Stores.java): with Lull's barrier
# on the left, with G1's on the right, from behind the entry of the method to the end of its work. Then how many instructions
# that is, and how many there are without a barrier. What lies behind the return, out of line, is counted and not shown.
#
# A debugger's library for disassembly (hsdis) is not needed: the VM prints the bytes, objdump reads them.
#
#   LULL_TEST_JDK   the JDK (default: build/jdk-debug)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

have objdump || die "objdump is missing" "it is in the package binutils"
compile_programs barrier-code jdk-debug "$ROOT/hotspot/test/barrier-code/Stores.java"

methods=("$@")
((${#methods[@]})) || methods=(field element created filled)
commands=()
for method in "${methods[@]}"; do commands+=("-XX:CompileCommand=dontinline,Stores::$method" "-XX:CompileCommand=print,Stores::$method"); done
declare -A what=(
  [field]='this.name = value'
  [element]='array[index] = value'
  [created]='the field of a new object, initialised'
  [filled]='the field of a new object, stored on a condition')

# Without the checks that a debug build puts into its code; a release build does not know the flag.
compile() {   # NAME FLAGS...: prints the code of all methods
  local name=$1
  shift
  cleanly "$jdk/bin/java" -Xmx64m -Xshare:auto -XX:-TieredCompilation -Xbatch -XX:+UnlockDiagnosticVMOptions \
    -XX:+IgnoreUnrecognizedVMOptions -XX:-CheckCompressedOops -XX:+UnlockExperimentalVMOptions "$@" -XX:CompileCommand=quiet "${commands[@]}" -cp "$work" Stores > "$work/$name.print" 2>&1 || die "Stores failed, see $work/$name.print"
}

# One line per instruction, from the verified entry to the stubs of exceptions.
disassemble() {   # NAME METHOD
  local code
  code=$(awk -v method="Stores::$2 " '
    index($0, "Compiled method") && index($0, "(c2)") { ours = index($0, method) > 0 && !index($0, "%"); code = ""; inside = 0 }
    !ours { next }
    /^\[Instructions begin\]/ || /^\[(Verified )?Entry Point\]/ { code = ""; inside = 1; next }
    /^\[(Exception Handler|Stub Code|Deopt Handler Code|\/MachCode)\]/ { if (inside) last = code; inside = 0; next }
    inside && /^ *0x[0-9a-f]+: [0-9a-f]/ { line = $0; sub(/^[^:]*:/, "", line); gsub(/[^0-9a-f]/, "", line); code = code line }
    END { gsub(/../, "\\x&", last); print last }' "$work/$1.print")
  [[ -n $code ]] || die "$2 was not compiled, see $work/$1.print"
  printf '%b' "$code" > "$work/$1-$2.bin"
  # A jump to what is behind the return goes out of line.
  objdump -D -b binary -m i386:x86-64 --no-show-raw-insn "$work/$1-$2.bin" | sed -n 's/^ *\([0-9a-f]*\):\t\(.*\)/\1 \2/p' | awk '
    function value(hex,   i, n) { sub(/^0x/, "", hex); for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
    { at[NR] = value($1); $1 = ""; sub(/^ /, ""); sub(/ *#.*/, ""); text[NR] = $0; if (!end && /^ret/) end = NR }
    END {
      for (i = 1; i <= end; i++) {
        n = split(text[i], word, " ")
        if (word[1] ~ /^j/ && word[n] ~ /^0x/) text[i] = word[1] " " (value(word[n]) > at[end] ? "out of line" : "+" (value(word[n]) - at[i]))
        print text[i]
      }
      print "out of line: " NR - end
    }' > "$work/$1-$2.all"
  # Between what every method begins with (frame, entry barrier) and what it ends with (frame, safepoint poll).
  awk '/^out of line:/ { next }
       !begun { if (/^cmpl .*\(%r15\)/) armed = 1; else if (armed && /^j/) begun = 1; next }
       /^add .*,%rsp/ { exit }
       { print }' "$work/$1-$2.all" > "$work/$1-$2.shown"
}

count() { wc -l < "$work/$1-$2.shown"; }
out_of_line() { sed -n 's/^out of line: //p' "$work/$1-$2.all"; }

compile none -XX:+UseLullGC -XX:-LullTracking
compile lull -XX:+UseLullGC -XX:-LullLocalCollections
compile g1 -XX:+UseG1GC
for method in "${methods[@]}"; do
  for name in none lull g1; do disassemble "$name" "$method"; done
  printf '\n%s: %s\n\n' "$method" "${what[$method]:-}"
  printf '    %-56s  %s\n' Lull G1 ---- --
  paste -d '\t' "$work/lull-$method.shown" "$work/g1-$method.shown" | awk -F '\t' '{ printf "    %-56s  %s\n", $1, $2 }'
  printf '\n    instructions        no barrier %3d, Lull %3d (+%d), G1 %3d (+%d)\n' \
    "$(count none "$method")" "$(count lull "$method")" $(($(count lull "$method") - $(count none "$method"))) \
    "$(count g1 "$method")" $(($(count g1 "$method") - $(count none "$method")))
  printf '    behind the return   no barrier %3d, Lull %3d (+%d), G1 %3d (+%d)\n' \
    "$(out_of_line none "$method")" "$(out_of_line lull "$method")" $(($(out_of_line lull "$method") - $(out_of_line none "$method"))) \
    "$(out_of_line g1 "$method")" $(($(out_of_line g1 "$method") - $(out_of_line none "$method")))
done
