#!/bin/sh
# Takes more than a build may, in the way that way.txt names, and builds. What lies there lies long enough to be seen:
# where a place is no file system of its own, it is looked at and not bounded.
cd /app/submission
case "$(cat way.txt)" in
  says) head -c 300000 /dev/zero ;;
  fills) head -c 12000000 /dev/zero >much && sleep 1 && rm much ;;
  litters) mkdir many && (cd many && seq 400 | xargs touch) && sleep 1 && rm -r many ;;
  waits) sleep 2.5 ;;
  burns) for turn in 1 2 3 4; do sh -c 'n=0; while [ $n -lt 400000 ]; do n=$((n+1)); done'; done ;;
  grows) head -c 150000000 /dev/zero | tail -c 140000000 >/dev/null ;;
  forks) for turn in $(seq 40); do sleep 4 & done ;;
esac || exit 1
sh build.sh
