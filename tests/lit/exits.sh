#!/bin/sh
# usage: exits.sh CODE COMMAND...: runs the command, and fails unless it exits with that code.
expected=$1
shift
"$@"
code=$?
[ "$code" -eq "$expected" ] && exit 0
echo "exits.sh: expected the exit code $expected, found $code" >&2
exit 1
