#!/usr/bin/env python3
"""Runs the tests of the holes that a hostile read of the code found, and counts the holes that they show as closed.

usage: holes.py

`testing/holes.list` has one block for each hole: a line with its number and its scenario, and indented lines with the
names of its tests. The last line of the output counts the holes, and those whose tests all ran and passed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).with_name("holes.list")
PASSED = re.compile(r"^\s+PASS \[.*\] (?:\(.*\) )?\S+ (?P<test>\S+)$")


def holes(text: str) -> dict[str, list[str]]:
    """Returns the tests of each hole."""
    found: dict[str, list[str]] = {}
    tests: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            tests.append(line.strip())
        else:
            tests = found.setdefault(line.split()[0], [])
    return found


def passed(tests: list[str]) -> set[str]:
    """Runs the tests and returns the names of those that passed."""
    chosen = " | ".join(f"test(/(^|::){re.escape(test)}$/)" for test in tests)
    features = "nightdesk/scripted,nightdesk/failpoints"
    command = ["cargo", "xtask", "with-servers", "--redis", "--", "cargo", "nextest", "run", "--locked", "--workspace"]
    command += ["--features", features, "--no-fail-fast", "--status-level", "pass", "-E", chosen]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(run.stdout, end="")
    return {match["test"] for line in run.stdout.splitlines() if (match := PASSED.match(line))}


def main() -> int:
    found = holes(LIST.read_text())
    done = passed(sorted({test for tests in found.values() for test in tests}))
    closed = 0
    for hole, tests in found.items():
        missing = [test for test in tests if not any(name.endswith(test) for name in done)]
        if tests and not missing:
            closed += 1
        for test in missing:
            print(f"{hole}: {test} did not pass, or does not exist")
    print(f"holes: found={len(found)} closed={closed}")
    return 0 if closed == len(found) else 1


if __name__ == "__main__":
    os.environ["CARGO_TERM_COLOR"] = "never"
    sys.exit(main())
