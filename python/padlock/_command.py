"""The command `padlock`: a script that finds the program beside this file."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Replaces this process by the program, with the script's arguments."""
    command = os.path.join(os.path.dirname(__file__), "bin", "padlock")
    os.execv(command, [command, *sys.argv[1:]])
