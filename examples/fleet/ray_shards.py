"""Tunes programs in several tasks of a Ray cluster: ray_shards.py SHARDS CACHES PROGRAM.pad ... [--OPTION ...]

CACHES is a folder that all machines see; each task writes a cache of its own there. What begins with -- is handed to
`padlock tune`. Afterwards: padlock cache merge CACHES/*.db --cache=tuned.db
"""

import os
import subprocess
import sys

import ray


@ray.remote(max_retries=3)
def tune(shard, shards, caches, arguments):
    cache = os.path.join(caches, f"{shard}.db")
    command = [os.environ.get("PADLOCK", "padlock"), "tune", *arguments, f"--shard={shard}/{shards}"]
    return subprocess.run([*command, f"--cache={cache}", "--resume", "--quiet"], check=False).returncode


def main(shards, caches, *arguments):
    os.makedirs(caches, exist_ok=True)
    ray.init()
    codes = ray.get([tune.remote(shard, int(shards), os.path.abspath(caches), arguments) for shard in range(int(shards))])
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
