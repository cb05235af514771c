"""Runs the scenarios, several at a time, and says how they went.

Run by `line.sh`, beside a PostgreSQL. The last line printed sums up; what failed leaves its logs.
"""

import argparse
import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from line.folder import Folder
from line.judge import Broken
from line.postgres import Cluster
from line.scenarios import Scenario, find
from line.stage import Stage, binary, make_template

PLATFORMS = ("discord", "webchat")
AT_ONCE = 6
# On top of what the scenario usually takes: a promise broken late is still named.
PATIENCE_SECS = 120


@dataclass(frozen=True)
class Outcome:
    """How one run went."""

    name: str
    platform: str
    secs: float
    error: BaseException | None

    @property
    def is_broken_promise(self) -> bool:
        """Whether it failed by what it judges, and not by trouble of our own."""
        return isinstance(self.error, Broken)

    def __str__(self) -> str:
        head = f"{'FAILED' if self.error else 'ok':<7}{self.name} {self.platform} {self.secs:.1f} s"
        if self.error is None:
            return head
        kind = "" if self.is_broken_promise else f"{type(self.error).__name__}: "
        return f"{head}: {kind}{self.error}"


class Runner:
    """Runs scenarios in a folder of its own."""

    def __init__(self, asked: argparse.Namespace, folder: Path) -> None:
        self._asked = asked
        self._folder = folder
        self._cluster = Cluster.shared()
        self._places = asyncio.Semaphore(asked.at_once)
        self._kept: Path | None = None

    async def run(self, scenarios: list[Scenario]) -> list[Outcome]:
        """Runs all, as every platform asked for."""
        template = self._folder / "template"
        template.mkdir()
        await make_template(binary(), template, self._cluster)
        runs = [self._one(s, platform) for s in scenarios for platform in self._asked.platform]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run) for run in runs]
        return [task.result() for task in tasks]

    async def _one(self, scenario: Scenario, platform: str) -> Outcome:
        async with self._places:
            folder = self._folder / f"{scenario.name}-{platform}"
            folder.mkdir()
            began_at = time.monotonic()
            error = await self._act(scenario, Stage(binary(), folder, self._cluster, platform))
            outcome = Outcome(scenario.name, platform, time.monotonic() - began_at, error)
        print(outcome)
        wanted = self._asked.expect_failure and outcome.is_broken_promise
        if error is not None and not wanted:
            self._keep(folder)
        shutil.rmtree(folder)
        return outcome

    async def _act(self, scenario: Scenario, stage: Stage) -> Exception | None:
        try:
            async with asyncio.timeout(scenario.secs + PATIENCE_SECS):
                await stage.set_up(self._asked.planted, scenario.own_cluster)
                await scenario.act(stage)
        except Exception as error:
            return error
        finally:
            try:
                await stage.take_down()
            except Exception as error:
                print(f"taking down {scenario.name}: {error!r}", file=sys.stderr)
        return None

    def _keep(self, folder: Path) -> None:
        if self._kept is None:
            self._kept = Path(tempfile.mkdtemp(prefix="hermes-line-failed-"))
        kept = self._kept / folder.name
        kept.mkdir()
        for log in [*folder.glob("*.log"), *folder.glob("*.jsonl")]:
            shutil.copy(log, kept)
        print(f"       its logs are in {kept}")


def parse(scenarios: list[Scenario]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="line.sh", description=__doc__)
    names = [scenario.name for scenario in scenarios]
    add = parser.add_argument
    add("--list", action="store_true", help="say what the scenarios show, and run none")
    add("--only", action="append", choices=names, metavar="NAME", help="run this one; repeatable")
    add("--platform", action="append", choices=PLATFORMS, help="as this platform only")
    add("--at-once", type=int, default=AT_ONCE, metavar="N", help=f"default {AT_ONCE}")
    add("--planted", metavar="BUG", help="start the desk with this planted bug")
    add("--expect-failure", action="store_true", help="succeed if every run breaks a promise")
    asked = parser.parse_args()
    asked.platform = asked.platform or list(PLATFORMS)
    return asked


def unfit(desk: Path, planted: str | None) -> str | None:
    """Why the desk's binary will not do: a bug that is not in it proves nothing."""
    if not os.access(desk, os.X_OK):
        return f"no desk at {desk}"
    if planted is not None and b"NIGHTDESK_PLANTED" not in desk.read_bytes():
        return f"the desk at {desk} has no planted bugs"
    return None


async def run(asked: argparse.Namespace, scenarios: list[Scenario]) -> list[Outcome]:
    """Runs the scenarios; whatever ends us, ends what we started."""
    task = asyncio.current_task()
    assert task is not None
    for ending in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(ending, task.cancel)
    folder = Folder("nightdesk-hermes-", "KILL")
    try:
        return await Runner(asked, folder.path).run(scenarios)
    finally:
        folder.remove()


def main() -> int:
    """Runs what is asked for; 0 if all went as it should."""
    scenarios = find()
    asked = parse(scenarios)
    if asked.only:
        scenarios = [scenario for scenario in scenarios if scenario.name in asked.only]
    if asked.list:
        for scenario in sorted(scenarios, key=lambda scenario: scenario.name):
            print(f"{scenario.name}\n    {scenario.shows}")
        return 0
    if problem := unfit(binary(), asked.planted):
        print(f"{problem}; cargo build -p nightdesk --features scripted,planted")
        return 2
    try:
        outcomes = asyncio.run(run(asked, scenarios))
    except asyncio.CancelledError:
        print("hermes-line: interrupted")
        return 130
    failed = sum(outcome.error is not None for outcome in outcomes)
    passed = len(outcomes) - failed
    print(f"hermes-line: scenarios={len(scenarios)} passed={passed} failed={failed}")
    if asked.expect_failure:
        return 0 if all(outcome.is_broken_promise for outcome in outcomes) else 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
