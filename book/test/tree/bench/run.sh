# run.sh --fast; LULL_BUILD
# See docs/nothing.md and docs/good.md.
