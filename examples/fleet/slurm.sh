#!/bin/sh
#SBATCH --job-name=padlock-tune
#SBATCH --array=0-6
#SBATCH --time=00:30:00
# Tunes the programs of a folder in seven tasks: sbatch examples/fleet/slurm.sh
# Each task writes a cache of its own in a folder that all see; one that was ended goes on where it was, when it is
# queued again. For GPUs add --gres=gpu:1 above and DEVICE=cuda:0. Afterwards:
# padlock cache merge caches/*.db --cache=tuned.db
set -eu
PADLOCK="${PADLOCK:-padlock}"
PROGRAMS="${PROGRAMS:-examples}"
CACHES="${CACHES:-caches}"
mkdir -p "$CACHES"
exec "$PADLOCK" tune "$PROGRAMS"/*.pad --shard="$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --device="${DEVICE:-host}" --budget="${BUDGET:-10m}" --cache="$CACHES/$SLURM_ARRAY_TASK_ID.db" --resume --quiet
