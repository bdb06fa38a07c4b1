"""A peer for peer_test.cpp, that answers as its name says."""

import os
import sys
import threading

name = sys.argv[1].split("=")[1]
if name == "absent":
    print("fake is not installed", flush=True)
    sys.exit()
if name == "restless":
    def look_for_work():
        while True:
            pass
    threading.Thread(target=look_for_work, daemon=True).start()
print(f"here fake 1.0 {sys.argv[2]}", flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "prepare":
        fields = dict(word.split("=") for word in words[1:])
        with open(fields["output"], "w", encoding="utf-8") as file:
            file.write(line)
        print("ready" if name != "unable" else "no mode wrap", flush=True)
    elif words[0] == "time":
        if name == "dying":
            os._exit(1)
        answers = {"babbling": "what?", "restless": f"ms {os.getpid()}"}
        print(answers.get(name, "ms 2.5"), flush=True)
    else:
        print("forgotten", flush=True)
