"""A run of the families: PyTorch's caches in a folder of their own, JSON lines as they come, and the summary at the end."""

import json
import os
import subprocess
import sys
import tempfile
import time

import summary
import survivor


def facts(script, needed):
    """What a script prints as JSON in a process of its own, since it loads the libraries. Exits where it fails."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise SystemExit(f"error: expected {needed}: {' '.join(done.stderr.strip().splitlines()[-1:])}")
    return json.loads(done.stdout)


def show(found):
    """For people, as it comes."""
    if found["kind"] == "zoo_row":
        speeds = " ".join(f"{name} {ratio:.2f}" for name, ratio in summary.speeds(found).items())
        print(f"{found['family']:<12} {found['name']:<22} {found['dtype']:<4} {found['bytes'] / 2**20:6.1f} MiB  "
              f"{found['us']['padlock']:8.2f} us  of {speeds}  first {found['first_ms']:.0f} ms", flush=True)
    elif found["kind"] == "zoo_wrong" or (found["kind"] == "zoo_skipped" and not summary.has_no_words(found)):
        print(f"{found['kind'][4:]:<12} {found.get('title', found['index'])} {found.get('who', '')}: {found['reason'][:160]}", flush=True)


def measure(script, arguments, passed, count, fields, step_seconds, before=None):
    """Writes arguments.json. `passed`: arguments of the child; `fields`: of the first line; `before`: what is done once the
    caches' folder is there. Returns 1 where a result was wrong."""
    begin, objects = time.monotonic(), []
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    os.environ.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "1")
    with tempfile.TemporaryDirectory(prefix="padlock_zoo_") as room, open(arguments.json, "w", encoding="utf-8") as out:
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", room)
        os.environ.setdefault("TRITON_CACHE_DIR", f"{room}/triton")

        def write(found):
            objects.append(found)
            print(json.dumps(found), file=out, flush=True)
            show(found)

        write({"schema": 1, "kind": "zoo_provenance", **fields, "problems": count})
        if before:
            before()
        survivor.run(script, passed, count, arguments.seconds - (time.monotonic() - begin), step_seconds, write)
    print(f"\n{summary.text_of(objects)}\nof {count} problems, in {time.monotonic() - begin:.0f} s")
    return 1 if any(found["kind"] == "zoo_wrong" for found in objects) else 0
