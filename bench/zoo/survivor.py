"""Runs problems in a process that may die: a library that ends it, or never returns, costs its own figure of one problem.

The process is a script of its own, started with `--child --first=INDEX --without=NAME,...`. It prints JSON lines, and of
kind zoo_step before each contestant {"index": INDEX, "who": NAME}, so that whoever ends the process is known by name."""

import json
import os
import queue
import subprocess
import sys
import threading
import time


def emitter():
    """Returns a function that prints a JSON line. What else the process prints goes to its standard error."""
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return lambda kind, **fields: print(json.dumps({"schema": 1, "kind": kind, **fields}), file=lines, flush=True)


class Process:
    """A child, and its lines as they come."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.queue = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.queue.put(line)
        self.queue.put(None)

    def line(self, seconds):
        """The next one; None at the end. Raises queue.Empty where none comes."""
        return self.queue.get(timeout=max(seconds, 0.01))

    def end(self):
        """Returns the status; a process that has said all and does not end is killed."""
        try:
            self.process.wait(timeout=60)  # libraries take a while
        except subprocess.TimeoutExpired:
            self.process.kill()
        status = self.process.wait()
        self.reader.join(timeout=2)  # what the child started may hold its output open
        if not self.reader.is_alive():
            self.process.stdout.close()
        return status


def objects_of(process, deadline, step_seconds):
    """Yields the objects of a process's lines; at last a text if it took too long."""
    while True:
        try:
            line = process.line(min(step_seconds, deadline - time.monotonic()))
        except queue.Empty:
            process.process.kill()
            yield "the run's time is over" if time.monotonic() >= deadline else f"took more than {step_seconds} s"
            return
        if line is None:
            return
        yield json.loads(line)


def run(script, arguments, count, seconds, step_seconds, write):
    """Runs the problems 0 to count - 1. `write` gets every object but the steps. Returns how many processes died or hung
    before the time was over."""
    deadline, first, without, ended = time.monotonic() + seconds, 0, [], 0
    while first < count and time.monotonic() < deadline:
        process = Process([sys.executable, "-B", script, *arguments, "--child", f"--first={first}", f"--without={','.join(without)}"])
        step, reason = {"index": first, "who": "start"}, None
        for found in objects_of(process, deadline, step_seconds):
            if isinstance(found, str):
                reason = found
            elif found["kind"] == "zoo_step":
                if found["index"] != step["index"]:
                    without = []
                step = found
            else:
                write(found)
        status = process.end()
        if status == 0 and reason is None:
            return ended
        reason = reason or f"its process ended with status {status}"
        write({"schema": 1, "kind": "zoo_skipped", "index": step["index"], "who": step["who"], "reason": reason})
        if time.monotonic() >= deadline:
            return ended
        ended += 1
        hopeless = step["who"] in (*without, "start", "padlock")
        first, without = (step["index"] + 1, []) if hopeless else (step["index"], [*without, step["who"]])
    return ended
