"""Runs the README's quick start verbatim on a bare machine, and judges it in a real browser.

The machine is a folder that has only Rust and the packages that the README installs. It shares only the network with
the host. Last line:

    quickstart: build_seconds=… other_seconds=… answered=1 left_behind=0
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# The id of a machine's first user.
PERSON = 1_000

# Longer than any cold build on two cores.
BUILD_WAIT_S = 3_000
ANSWER_WAIT_S = 60
STOP_WAIT_S = 90

BUILT = re.compile(r"Finished `release` profile")
CHAT = re.compile(r"^chat: (http://\S+)$", re.MULTILINE)
LEFT = re.compile(r"ended=(\d+) left_processes=(\d+) left_files=(\d+)")


def blocks() -> list[str]:
    """Returns the shell blocks of the README's section, in order."""
    section = (ROOT / "README.md").read_text().split("\n## Try it\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


def packages(install: str) -> list[str]:
    """Returns the arguments of `apt-get install` there."""
    words = install.replace("sudo ", "").split()
    assert words[:2] == ["apt-get", "install"], install
    return words[2:]


def machine(names: list[str]) -> Path:
    """Returns the folder of a bare machine."""
    made = subprocess.run(
        ["bash", HERE / "machine.sh", *names], check=True, stdout=subprocess.PIPE, text=True
    )
    return Path(made.stdout.strip())


class Run:
    """The README's commands, running on the machine."""

    def __init__(self, root: Path, lines: str, folder: Path) -> None:
        self.log = folder / "log"
        (folder / "lines").write_text(lines)
        subprocess.run(
            ["git", "clone", "-q", "--bare", ROOT, folder / "repository"], check=True
        )
        # Git clones no repository of another user.
        subprocess.run(["chown", "-R", f"{PERSON}:{PERSON}", folder / "repository"], check=True)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        with self.log.open("wb") as log:
            self.child = subprocess.Popen(
                ["bash", HERE / "outside.sh", root, folder],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, pattern: re.Pattern[str], wait_s: float) -> re.Match[str]:
        """Waits until the output matches a pattern."""
        until = time.monotonic() + wait_s
        while True:
            if found := pattern.search(self.log.read_text(errors="replace")):
                return found
            if time.monotonic() > until or self.child.poll() is not None:
                raise SystemExit(f"never said {pattern.pattern}:\n{self.tail()}")
            time.sleep(0.1)

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-4_000:]

    def interrupt(self) -> None:
        """Presses Ctrl-C: the foreground process gets it."""
        os.killpg(self.child.pid, signal.SIGINT)


def answered(url: str) -> bool:
    """Returns true if a message in Chromium gets an answer."""
    asked = subprocess.run(["bash", HERE / "../browser/ask.sh", url])
    return asked.returncode == 0


def main() -> None:
    install, lines = blocks()
    root = machine(packages(install))
    with tempfile.TemporaryDirectory(prefix="nightdesk-quickstart-") as folder:
        began = time.monotonic()
        run = Run(root, lines, Path(folder))
        try:
            run.wait_for(BUILT, BUILD_WAIT_S)
            built = time.monotonic()
            url = run.wait_for(CHAT, ANSWER_WAIT_S).group(1)
            good = answered(url)
            done = time.monotonic()
            run.interrupt()
            ended, processes, files = map(int, run.wait_for(LEFT, STOP_WAIT_S).groups())
        finally:
            run.child.terminate()
            run.child.wait()
    left = processes + files
    print(
        f"quickstart: build_seconds={built - began:.0f} other_seconds={done - built:.1f} "
        f"answered={int(good)} left_behind={left}"
    )
    sys.exit(0 if good and left == 0 else 1)


if __name__ == "__main__":
    main()
