"""How a rehearsal runs programs, and how it ends where one does not do what it should."""

import subprocess
import sys


def say(words):
    print(words, flush=True)


def skip(words):
    say(f"SKIPPED, NOT PASSED: {words}")


def fail(words):
    sys.exit(f"FAILED: {words}")


def run(words, check=True, **more):
    """Runs a program without input; returns what it printed. With `check`, any exit code but 0 is the end."""
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    if check and ran.returncode != 0:
        fail(f"{' '.join(map(str, words))}: exit {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran
