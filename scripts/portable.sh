#!/usr/bin/env bash
# Packs a portable build: strips its programs, makes sure that they need glibc and nothing else, and compresses them,
# with scripts beside them.
#
# usage: portable.sh BUILD_DIR OUTPUT.tar.xz PROGRAM ... [-- SCRIPT ...]
set -euo pipefail

# The host has to have glibc 2.36 or later (Debian 12's), by the names of its libraries.
readonly glibc_version=2.36
readonly allowed='^(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1|ld-linux-.*\.so\.[0-9]+)$'
readonly limit_bytes=$((64 * 1000 * 1000))

build_dir=$1
output=$2
programs=()
scripts=()
shift 2
while [[ $# -gt 0 && $1 != -- ]]; do programs+=("$1"); shift; done
[[ $# == 0 ]] || scripts=("${@:2}")
staging=$build_dir/padlock-portable
rm -rf "$staging"
mkdir -p "$staging" "$(dirname "$output")"

fail() { echo "portable: $*" >&2; exit 1; }

# Fails where the program needs a library that is not glibc's, or a newer glibc.
check_needs() {
  local program=$1 needed newest
  while read -r needed; do
    [[ $needed =~ $allowed ]] || fail "$program needs $needed"
  done < <(readelf -dW "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  newest=$(readelf -VW "$program" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
  [[ $(printf '%s\n' "$newest" "$glibc_version" | sort -V | tail -n 1) == "$glibc_version" ]] ||
    fail "$program needs glibc $newest"
}

for program in "${programs[@]}"; do
  strip -o "$staging/$program" "$build_dir/bin/$program"
  check_needs "$staging/$program"
done

for script in "${scripts[@]}"; do
  install -m 755 "$script" "$staging/"
done

# The programs share most of their bytes: a window that holds two of them lets xz store those once.
tar -C "$build_dir" -c padlock-portable | xz -T1 --lzma2=preset=6,dict=128MiB > "$output"
size=$(stat -c %s "$output")
[[ $size -le $limit_bytes ]] || fail "$output has $size bytes, over $limit_bytes"
(cd "$staging" && ls -l)
echo "portable: $output, $size bytes, ${#programs[@]} programs, ${#scripts[@]} scripts"
