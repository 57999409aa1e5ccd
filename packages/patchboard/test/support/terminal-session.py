"""Runs a command in a terminal of its own: waits for what it shows, presses keys, tells how it ended.

Arguments: steps as JSON [[pattern, keys or "SIG…"], …], then the command. Prints JSON.
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

LIMIT_S = 60

steps = json.loads(sys.argv[1])
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
child = subprocess.Popen(
    sys.argv[2:],
    stdin=slave,
    stdout=slave,
    stderr=slave,
    start_new_session=True,
    preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
)
transcript = b""
start = 0
failed = None


def read(wait):
    global transcript
    ready, _, _ = select.select([master], [], [], wait)
    if not ready:
        return False
    transcript += os.read(master, 65536)
    return True


for pattern, keys in steps:
    deadline = time.monotonic() + LIMIT_S
    while not re.search(pattern, transcript[start:].decode("utf-8", "replace")):
        if time.monotonic() > deadline or (child.poll() is not None and not read(0)):
            failed = pattern
            break
        read(0.1)
    if failed is not None:
        child.kill()
        break
    start = len(transcript)
    if keys.startswith("SIG"):
        child.send_signal(getattr(signal, keys))
    else:
        os.write(master, keys.encode())

deadline = time.monotonic() + LIMIT_S
while child.poll() is None and time.monotonic() < deadline:
    read(0.1)
if child.poll() is None:
    failed = "its end"
    child.kill()
child.wait()
while read(0):
    pass
flags = termios.tcgetattr(slave)[3]
print(
    json.dumps(
        {
            "transcript": transcript.decode("utf-8", "replace"),
            "code": child.returncode,
            "failed": failed,
            "cooked": bool(flags & termios.ICANON) and bool(flags & termios.ECHO),
        }
    )
)
