# run.sh --fast; LULL_BUILD
