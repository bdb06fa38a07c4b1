"""The command padlock, which is a program beside this file: the script only finds it."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Becomes the command, with the script's arguments."""
    command = os.path.join(os.path.dirname(__file__), "bin", "padlock")
    os.execv(command, [command, *sys.argv[1:]])
