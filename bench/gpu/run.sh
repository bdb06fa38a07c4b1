#!/usr/bin/env bash
# Shows on a machine with a GPU that Padlock is right there, and measures it. Needs the files of ./dev portable, among
# which it is itself, and nothing else; compute-sanitizer, Python and what it imports are used where they are.
#
# usage: run.sh --out=FOLDER [--portable=FOLDER] [--device=cuda:N|simt] [--quick] [--commit=TEXT] [--steps=NAME,...]
#
# --device=simt runs the same steps without a GPU, so that this script is tested where there is none; its times mean
# nothing. Below FOLDER: a log of each step, JSON lines (README.md), summary.txt. A step that fails or takes too long
# does not stop the others. Exit status: 0; 1 where a result was wrong or a check did not end; 2 for wrong usage; 3 where
# only something else failed.
set -uo pipefail

portable=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=
device=cuda:0
quick=0
commit=
only=

die() { echo "run.sh: $*" >&2; exit 2; }

for argument in "$@"; do
  case $argument in
    --out=*) out=${argument#*=} ;;
    --portable=*) portable=${argument#*=} ;;
    --device=*) device=${argument#*=} ;;
    --quick) quick=1 ;;
    --commit=*) commit=${argument#*=} ;;
    --steps=*) only=,${argument#*=}, ;;
    -h | --help) sed -n '2,/^set/{s/^# \{0,1\}//;/^set/d;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "unknown argument $argument, see --help" ;;
  esac
done
[[ -n $out ]] || die "--out=FOLDER is needed"
[[ $device =~ ^(simt|cuda:[0-9]+)$ ]] || die "expected --device=cuda:N or simt, found $device"
for program in padlock padlock_conformance padlock_bench_gpu; do
  [[ -x $portable/$program ]] || die "$portable has no program $program"
done
mkdir -p "$out" || die "cannot make $out"
# The directory of this script, not of the programs, holds what is no program.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
simulated=0
[[ $device != simt ]] || simulated=1
: > "$out/steps.jsonl"
: > "$out/summary.txt"

wrong=0
failed=0

say() { echo "$*" | tee -a "$out/summary.txt"; }

# report NAME STATUS EXIT SECONDS [NOTE]
report() {
  say "$(printf '%-22s %-10s %5ss  %s' "$1" "$2" "$4" "${5-}")"
  printf '{"schema":1,"kind":"gpu_step","name":"%s","status":"%s","exit":%s,"seconds":%s,"device":"%s"}\n' \
    "$1" "$2" "$3" "$4" "$device" >> "$out/steps.jsonl"
}

wanted() { [[ -z $only || $only == *",$1,"* ]]; }

skip() {
  wanted "$1" || return 0
  report "$1" skipped 0 0 "$2"
}

# step KIND NAME SECONDS COMMAND ...: KIND is `check`, whose failure means that Padlock is or may be wrong, or `other`.
step() {
  local kind=$1 name=$2 limit=$3 begin=$SECONDS status result=passed note
  shift 3
  wanted "$name" || return 0
  timeout --kill-after=10 "$limit" "$@" > "$out/$name.log" 2>&1
  status=$?
  # The last line that says how many passed, or else the last one.
  note=$(grep -aE '[0-9]+ passed|wrong results|ERROR SUMMARY|error:|^skipped' "$out/$name.log" | tail -n 1 | cut -c1-120)
  case $status in
    0) ;;
    77) result=unavailable ;;
    124 | 137) result="timed out" note="after $limit s; ${note-}" ;;
    *) result=failed note="exit status $status; ${note-}" ;;
  esac
  if [[ $status != 0 ]]; then
    if [[ $kind == check ]]; then wrong=1; else failed=1; fi
  fi
  report "$name" "$result" "$status" $((SECONDS - begin)) "$note"
}

# The figures of step padlock_bench_gpu are measurements, but each is of a result that was checked: status 1 is a wrong
# one, or an error that may hide one.
bench_step() {
  local name=$1 limit=$2
  shift 2
  step check "$name" "$limit" "$portable/padlock_bench_gpu" --device="$device" ${commit:+--commit="$commit"} \
    --json="$out/$name.jsonl" "$@"
}

find_sanitizer() {
  local candidate
  for candidate in "$(command -v compute-sanitizer)" "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" \
    /usr/local/cuda/compute-sanitizer/compute-sanitizer; do
    [[ -x $candidate ]] && echo "$candidate" && return 0
  done
  return 1
}

# Runs programs under compute-sanitizer that take a short time though each access costs much.
sanitized() {
  local tool=$1
  shift
  local wrapper=("$@")
  step check "${tool}_conformance" 150 "${wrapper[@]}" "$portable/padlock_conformance" --device="$device" \
    --filter=random --programs=$((quick ? 3 : 10))
  step check "${tool}_bench" 150 "${wrapper[@]}" "$portable/padlock_bench_gpu" --device="$device" --parts=table \
    --sizes=64K --rounds=1 --sample-ms=0.001 --filter=rank4
}

# Means over the table: of each contestant, type and kind of rows.
summarise() {
  awk '
    function field(key, at, rest) {
      at = index($0, "\"" key "\":")
      if (at == 0) return ""
      rest = substr($0, at + length(key) + 3)
      gsub(/^ *"?/, "", rest)
      match(rest, /[",}]/)
      return substr(rest, 1, RSTART - 1)
    }
    index($0, "\"gpu_row\"") {
      value = field("of_memcpy") + 0
      if (value <= 0) next
      key = sprintf("%-18s %-4s %-10s", field("name"), field("dtype"), field("rows"))
      if (!(key in n)) { order[++keys] = key; least[key] = value }
      n[key]++; sum[key] += log(value)
      if (value < least[key]) least[key] = value
    }
    END {
      if (keys == 0) exit
      print "bytes per second over those of a copy (geometric mean, least):"
      for (i = 1; i <= keys; ++i) {
        k = order[i]
        printf "  %s %3d sizes and ranks  %6.3f  %6.3f\n", k, n[k], exp(sum[k] / n[k]), least[k]
      }
    }' "$@"
}

say "padlock on $device${commit:+, commit $commit}"
[[ $simulated == 0 ]] || say "simulated: results are checked, times mean nothing"

step other devices 60 "$portable/padlock" devices
if [[ $simulated == 0 ]]; then
  if command -v nvidia-smi > /dev/null; then step other nvidia_smi 60 nvidia-smi; else skip nvidia_smi "not on PATH"; fi
fi
[[ ! -f $out/devices.log ]] || sed 's/^/  /' "$out/devices.log" | tee -a "$out/summary.txt"

conformance=("$portable/padlock_conformance" --device="$device")
if [[ $simulated == 1 ]]; then
  conformance+=(--filter=random --programs=20)
elif [[ $quick == 1 ]]; then
  conformance+=(--programs=20)
fi
step check conformance 420 "${conformance[@]}"

if [[ $simulated == 1 ]]; then
  sanitized memcheck env
  sanitized initcheck env
elif sanitizer=$(find_sanitizer); then
  for tool in memcheck initcheck; do
    sanitized "$tool" "$sanitizer" --tool="$tool" --error-exitcode=99 --print-limit=20
  done
else
  for name in memcheck_conformance memcheck_bench initcheck_conformance initcheck_bench; do
    skip "$name" "no compute-sanitizer on PATH or in /usr/local/cuda"
  done
fi

other_families=--families=rows,transpose,variants
if [[ $simulated == 1 ]]; then
  bench_step bench 200 --sizes=64K --rounds=2
  bench_step shapes 200 --parts=table --sizes=64K --rounds=1 --sample-ms=0.001 "$other_families"
  bench_step search 100 --parts=table --sizes=64K --rounds=1 --all-configs=3 --finalists=1 --filter=f32_rank2
  sizes=(--sizes=64K)
  shape_sizes=(--sizes=64K)
elif [[ $quick == 1 ]]; then
  bench_step bench 200 --quick --rounds=11
  bench_step shapes 200 --parts=table --sizes=64M --rounds=7 "$other_families"
  bench_step search 200 --parts=table --sizes=64M --rounds=7 --all-configs=16
  sizes=(--quick)
  shape_sizes=(--sizes=64M)
else
  bench_step bench 420 --rounds=21
  bench_step shapes 420 --parts=table --sizes=1M,64M,256M --rounds=11 "$other_families"
  bench_step search 420 --parts=table --sizes=1M,64M,1G --rounds=11 --all-configs=24
  sizes=()
  shape_sizes=(--sizes=256M)
fi

# peer_steps NAME PROBLEMS: a step a peer, so that none ends after eight minutes.
peer_steps() {
  local name=$1 problems=$2 limit=$((quick ? 150 : 420)) peer
  [[ $simulated == 0 ]] || limit=30
  for peer in torch triton jax cupy plain; do
    [[ $peer != plain || $simulated == 1 ]] || continue
    step other "${name}_$peer" $((limit + 30)) "$python" -B "$here/peers.py" --problems="$problems" \
      --json="$out/${name}_$peer.jsonl" --device="$device" --limit="$limit" --peer="$peer"
  done
}

# The families of problems, beside PyTorch: needs the package padlock where Python finds it.
zoo_step() {
  local limit=$((quick ? 200 : 420))
  if [[ $simulated == 1 ]]; then
    step check zoo 200 "$python" -B "$here/zoo.py" --dry-run
  else
    CUDA_VISIBLE_DEVICES=${device#cuda:} step check zoo $((limit + 30)) "$python" -B "$here/zoo.py" --json="$out/zoo.jsonl" --seconds="$limit" ${commit:+--commit="$commit"}
  fi
}

if python=$(command -v python3); then
  "$portable/padlock_bench_gpu" --list "${sizes[@]}" > "$out/problems.jsonl"
  "$portable/padlock_bench_gpu" --list "${shape_sizes[@]}" "$other_families" > "$out/shape_problems.jsonl"
  peer_steps peers "$out/problems.jsonl"
  peer_steps shapes "$out/shape_problems.jsonl"
  if "$python" -c 'import padlock, torch' 2> /dev/null; then zoo_step; else skip zoo "no PyTorch or no package padlock"; fi
else
  skip peers "no python3"
fi

tables=()
for file in "$out"/{bench,shapes,search,peers_*,shapes_*}.jsonl; do
  [[ ! -f $file ]] || tables+=("$file")
done
[[ ${#tables[@]} == 0 ]] || summarise "${tables[@]}" | tee -a "$out/summary.txt"

if [[ $wrong == 1 ]]; then
  say "FAILED: a result is wrong, or a check did not end"
  exit 1
fi
if [[ $failed == 1 ]]; then
  say "right, but something else failed"
  exit 3
fi
say "all right"
