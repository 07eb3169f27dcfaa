#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# within.sh SECONDS COMMAND...: runs a command that is done by then, or hangs. If it hangs, says on standard error what still runs below it
# and where the threads of its JVMs are, ends all of that, and exits with status 124, as timeout(1) does.
#
# A JVM that does not answer is looked at from outside, by its own JDK's jhsdb.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

(($# >= 2)) && [[ $1 =~ ^[0-9]+$ && $1 -gt 0 ]] || die "usage: within.sh SECONDS COMMAND..., not '$*'"
seconds=$1
shift
expired=$(mktemp)
trap 'rm -f "$expired"' EXIT

# The processes below one, deepest last, without another one and what is below that.
below() {   # PID BUT
  awk -v root="$1" -v but="$2" '
    /^Pid:/ { pid = $2 }
    /^PPid:/ { children[$2] = children[$2] " " pid }
    function descend(p,   list, i, n) {
      n = split(children[p], list, " ")
      for (i = 1; i <= n; i++) if (list[i] != but) { print list[i]; descend(list[i]) }
    }
    END { descend(root) }' /proc/[0-9]*/status 2> /dev/null || true
}

stacks() {   # PID
  local bin
  bin=$(dirname "$(readlink "/proc/$1/exe")")
  if [[ -x $bin/jstack ]] && timeout 30 "$bin/jstack" "$1" 2> /dev/null; then return; fi
  say "it does not answer; from outside:"
  if [[ -x $bin/jhsdb ]]; then timeout 120 "$bin/jhsdb" jstack --mixed --pid "$1" 2>&1 || true; fi
}

end_it() {
  local pid pids first watcher=$BASHPID
  printf 'error: %s: not done after %s; still running:\n' "${1##*/}" "$(minutes "$seconds")"
  mapfile -t pids < <(below "$$" "$watcher")
  for pid in "${pids[@]}"; do
    printf 'error: hangs: %s %s\n' "$pid" "$(tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null | cut -c1-400)"
    [[ $(basename "$(readlink "/proc/$pid/exe" || true)") == java ]] || continue
    first=$(mktemp)
    stacks "$pid" > "$first" < /dev/null
    # Where its main thread is, for who sees only this much of the log.
    awk '/^"main"/ { inside = 1; next }
         inside && /^$|^---/ { exit }
         inside && /^[ \t]+at |^0x/ { print "error: hangs:     " $0; if (++n == 6) exit }' "$first"
    cat "$first"
    rm -f "$first"
  done
  # From the root: or a script would begin its next command.
  mapfile -t pids < <(below "$$" "$watcher")
  kill -TERM "${pids[@]}" 2> /dev/null || true
  sleep 10
  mapfile -t -O "${#pids[@]}" pids < <(below "$$" "$watcher")
  kill -KILL "${pids[@]}" 2> /dev/null || true
}

# The watcher ends by itself within a second of this script's end. The command has the foreground: an interrupt ends it.
{
  status=0
  timeout "$seconds" tail -s 1 --pid=$$ -f /dev/null > /dev/null 2>&1 || status=$?
  if ((status == 124)); then
    echo expired > "$expired"
    end_it "$1" >&2
  fi
} < /dev/null > /dev/null &
watcher=$!
status=0
"$@" || status=$?
if [[ -s $expired ]]; then
  wait "$watcher" || true
  status=124
fi
exit "$status"
