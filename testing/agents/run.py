"""Runs programs and planted faults through `nightdesk conformance agent`, and counts."""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent.parent
TRIAL_SECS = 1200
TRANSPORTS = ("line", "polling", "webhook", "mcp")


@dataclass(frozen=True)
class Program:
    """A sound agent, which must pass every scenario of a transport."""

    name: str
    transport: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Fault:
    """A planted fault, the scenario that must reject it, and a part of the reason."""

    name: str
    transport: str
    scenario: str
    reason: str


@dataclass(frozen=True)
class Trial:
    """The result of a run: the rows of the table, or what went wrong."""

    title: str
    rows: list[dict[str, str]]
    log: str


def programs(python: str, mcp_python: str, rust_echo: str) -> list[Program]:
    """Returns the sound agents."""
    echo = {
        "rust": (("line",), (rust_echo,)),
        "python": (("line", "polling", "webhook"), (python, str(HERE / "programs/echo.py"))),
        "typescript": (("line", "polling", "webhook"), ("node", str(HERE / "programs/echo.mjs"))),
        "shell": (("polling",), (str(HERE / "programs/poll.sh"),)),
        "mcp": (("mcp",), (mcp_python, str(HERE / "programs/mcp_echo.py"))),
        "bare": (("line", "polling", "mcp"), (python, str(HERE / "planted/faults.py"), "sound")),
        "bare-webhook": (("webhook",), (python, str(HERE / "planted/posts.py"), "sound")),
    }
    return [
        Program(name, transport, command) for name, (all_of, command) in echo.items() for transport in all_of
    ]


def faults() -> list[Fault]:
    """Returns the planted faults."""
    rows = [line.split(maxsplit=3) for line in (HERE / "planted.list").read_text().splitlines()]
    return [
        Fault(name, transport, scenario, reason)
        for name, transports, scenario, reason in (row for row in rows if row and not row[0].startswith("#"))
        for transport in transports.split(",")
    ]


def run_trial(title: str, transport: str, scenarios: list[str], command: list[str]) -> Trial:
    """Runs a trial."""
    chosen = [word for scenario in scenarios for word in ("--scenario", scenario)]
    words = [os.environ["NIGHTDESK_BIN"], "conformance", "agent", "--json", "--transport", transport, *chosen]
    try:
        done = subprocess.run(
            [*words, "--", *command], check=False, capture_output=True, text=True, timeout=TRIAL_SECS
        )
    except subprocess.TimeoutExpired:
        return Trial(title, [], f"it took over {TRIAL_SECS} s")
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    rows = json.loads(lines[-1])["scenarios"] if lines else []
    return Trial(title, rows, done.stderr)


def run_program(program: Program, scenarios: list[str]) -> Trial:
    """Runs a sound agent, and prints its failures."""
    title = f"{program.name} over {program.transport}"
    trial = run_trial(title, program.transport, scenarios, list(program.command))
    failed = [row for row in trial.rows if row["result"] != "passed"]
    print(f"{title}: {len(trial.rows) - len(failed)} of {len(trial.rows)} scenarios passed", flush=True)
    for row in failed:
        print(f"  {row['scenario']}: {row['reason']}", flush=True)
    if failed or not trial.rows:
        print(trial.log, file=sys.stderr, flush=True)
    return trial


def is_caught(fault: Fault, python: str) -> bool:
    """Returns true if the scenario rejects the fault, for the right reason."""
    file = "planted/posts.py" if fault.transport == "webhook" else "planted/faults.py"
    command = [python, str(HERE / file), fault.name]
    trial = run_trial(fault.name, fault.transport, [fault.scenario], command)
    reasons = [row["reason"] or "" for row in trial.rows if row["result"] == "failed"]
    caught = any(fault.reason in reason for reason in reasons)
    said = "; ".join(reasons) or "it passed" if trial.rows else trial.log
    title = f"planted {fault.name} over {fault.transport}, {fault.scenario}"
    print(f"{title}: {'caught' if caught else 'NOT CAUGHT'}: {said}", flush=True)
    return caught


def main() -> int:
    """Runs everything, or a part of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only programs and faults whose name contains this")
    parser.add_argument("--transport", default="", help="only this transport")
    parser.add_argument("--scenario", action="append", default=[], help="only this scenario")
    parser.add_argument("--at-once", type=int, default=2, help="trials at the same time")
    asked = parser.parse_args()
    python, mcp_python, rust_echo = (os.environ[name] for name in ("PYTHON", "MCP_PYTHON", "RUST_ECHO"))

    def chosen(name: str, transport: str) -> bool:
        return asked.only in name and asked.transport in ("", transport)

    sound = [one for one in programs(python, mcp_python, rust_echo) if chosen(one.name, one.transport)]
    planted = [
        one
        for one in faults()
        if chosen(one.name, one.transport) and (not asked.scenario or one.scenario in asked.scenario)
    ]
    with ThreadPoolExecutor(asked.at_once) as pool:
        trials = list(pool.map(lambda one: run_program(one, asked.scenario), sound))
        caught = sum(pool.map(lambda one: is_caught(one, python), planted))
    rows = [row for trial in trials for row in trial.rows]
    passed = sum(row["result"] == "passed" for row in rows)
    empty = sum(not trial.rows for trial in trials)
    names = {one.name for one in sound}
    transports = {one.transport for one in sound}
    failed = len(rows) - passed + empty
    print(
        f"agents: programs={len(names)} transports={len(transports)} scenarios={len(rows)} passed={passed} "
        f"failed={failed} planted={len(planted)} caught={caught}"
    )
    return int(failed > 0 or caught < len(planted))


if __name__ == "__main__":
    sys.exit(main())
