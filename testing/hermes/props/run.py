"""Runs scenarios, several stages at a time, and prints the results.

Needs a running PostgreSQL. The last line is a summary; the logs of failed scenarios stay on disk.
"""

import argparse
import asyncio
import itertools
import os
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from props import client
from props.folder import Folder
from props.judge import Broken
from props.postgres import Cluster
from props.scenario import PLATFORMS, MakeStage, Scenario, bills
from props.stage import Stage, binary, make_template

# Added to the usual time of the scenario: a promise broken late is still named.
PATIENCE_SECS = 420


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run."""

    name: str
    platform: str
    secs: float
    error: BaseException | None
    # True if the run must break a promise: the desk is a mutant.
    is_to_break: bool

    @property
    def is_broken_promise(self) -> bool:
        """Returns true if a check failed, rather than the test itself."""
        return isinstance(self.error, Broken)

    @property
    def is_as_wanted(self) -> bool:
        """Returns true if the outcome is the expected one."""
        return self.is_broken_promise if self.is_to_break else self.error is None

    def __str__(self) -> str:
        word = "ok" if self.is_as_wanted else "FAILED"
        head = f"{word:<7}{self.name} {self.platform} {self.secs:.1f} s"
        if self.error is None:
            return head
        kind = "" if self.is_broken_promise else f"{type(self.error).__name__}: "
        return f"{head}: {kind}{self.error}"


class Runner:
    """Runs scenarios in its own folder."""

    def __init__(self, asked: argparse.Namespace, folder: Path, make_stage: MakeStage) -> None:
        self._asked = asked
        self._folder = folder
        self._make_stage = make_stage
        self._cluster = Cluster.shared()
        self._places = asyncio.Semaphore(asked.at_once)
        self._stages = itertools.count(1)
        self._kept: Path | None = None

    async def run(self, scenarios: list[Scenario]) -> list[Outcome]:
        """Runs all scenarios on every selected platform."""
        template = self._folder / "template"
        template.mkdir()
        await make_template(template, self._cluster)
        pairs = [(bill, p) for p in self._asked.platform for bill in bills(scenarios, p)]
        # The longest first.
        pairs.sort(key=lambda pair: -sum(scenario.secs for scenario in pair[0]))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._bill(*pair)) for pair in pairs]
        return [outcome for task in tasks for outcome in task.result()]

    async def _bill(self, bill: list[Scenario], platform: str) -> list[Outcome]:
        """Runs the scenarios that share a stage; a stage is not used again after a failure."""
        outcomes: list[Outcome] = []
        left = list(bill)
        async with self._places:
            while left:
                folder = self._folder / f"{left[0].bill or left[0].name}-{platform}"
                folder = folder.with_name(f"{folder.name}-{next(self._stages)}")
                folder.mkdir()
                make_stage = left[0].stage or self._make_stage
                stage = make_stage(folder, self._cluster, platform)
                outcomes += await self._on(stage, left)
                left = bill[len(outcomes) :]
                self._put_away(folder, outcomes[-1])
        return outcomes

    async def _on(self, stage: Stage, scenarios: list[Scenario]) -> list[Outcome]:
        """Runs scenarios on a stage, up to the first that fails."""
        outcomes: list[Outcome] = []
        set_up = False
        try:
            for scenario in scenarios:
                began_at = time.monotonic()
                error = await self._act(scenario, stage, set_up)
                secs = time.monotonic() - began_at
                name, platform = scenario.name, stage.platform.name
                outcomes.append(Outcome(name, platform, secs, error, self._asked.expect_failure))
                print(outcomes[-1])
                set_up = True
                if error is not None:
                    break
        finally:
            try:
                await stage.take_down()
            except Exception as error:
                print(f"taking down {scenarios[0].name}: {error!r}", file=sys.stderr)
        return outcomes

    async def _act(self, scenario: Scenario, stage: Stage, is_set_up: bool) -> Exception | None:
        try:
            async with asyncio.timeout(scenario.secs + PATIENCE_SECS):
                if not is_set_up:
                    await stage.set_up(self._asked.mutant, scenario.own_cluster)
                await scenario.act(stage)
        except Exception as error:
            return error
        return None

    def _put_away(self, folder: Path, last: Outcome) -> None:
        """Removes a stage's folder; copies the logs of a failed scenario first."""
        if self._asked.keep or not last.is_as_wanted:
            if self._kept is None:
                self._kept = Path(tempfile.mkdtemp(prefix=f"{self._asked.called}-kept-"))
            kept = self._kept / folder.name
            kept.mkdir()
            for log in [*folder.glob("*.log"), *folder.glob("*.jsonl")]:
                shutil.copy(log, kept)
            print(f"       logs of {folder.name} are in {kept}")
        shutil.rmtree(folder)


def parse(script: str, scenarios: list[Scenario], at_once: int) -> argparse.Namespace:
    """Parses the arguments."""
    parser = argparse.ArgumentParser(prog=script, description=__doc__)
    names = [scenario.name for scenario in scenarios]
    add = parser.add_argument
    add("--list", action="store_true", help="say what the scenarios show, and run none")
    add("--only", action="append", choices=names, metavar="NAME", help="run this one; repeatable")
    add("--chosen", action="store_true", help="run the third that stands for the others")
    add("--platform", "--front", action="append", choices=PLATFORMS, help="as this one only")
    add("--at-once", type=int, default=at_once, metavar="N", help=f"stages; default {at_once}")
    add("--keep", action="store_true", help="keep the logs also of what went well")
    add("--mutant", metavar="NUMBER", help="select this mutant of the desk's build")
    add("--expect-failure", action="store_true", help="succeed if every run breaks a promise")
    asked = parser.parse_args()
    asked.platform = asked.platform or list(PLATFORMS)
    return asked


def unfit(desk: Path, mutant: str | None) -> str | None:
    """Returns the reason why the desk's binary cannot be used: a bug that it does not contain proves nothing."""
    if not os.access(desk, os.X_OK):
        return f"no desk at {desk}"
    if mutant is not None and b"NIGHTDESK_MUTANT" not in desk.read_bytes():
        return f"the desk at {desk} has no mutants"
    return None


async def run(
    asked: argparse.Namespace, scenarios: list[Scenario], make_stage: MakeStage
) -> list[Outcome]:
    """Runs the scenarios; ends the started processes in every case."""
    task = asyncio.current_task()
    assert task is not None
    for ending in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(ending, task.cancel)
    folder = Folder("nightdesk-hermes-", "KILL")
    try:
        return await Runner(asked, folder.path, make_stage).run(scenarios)
    finally:
        folder.remove()


def main(
    called: str, script: str, scenarios: list[Scenario], make_stage: MakeStage, at_once: int
) -> int:
    """Runs the selected scenarios; returns 0 if all outcomes are as expected."""
    asked = parse(script, scenarios, at_once)
    asked.called = called
    if asked.chosen:
        scenarios = [scenario for scenario in scenarios if scenario.chosen]
    if asked.only:
        scenarios = [scenario for scenario in scenarios if scenario.name in asked.only]
    if asked.list:
        for scenario in sorted(scenarios, key=lambda scenario: scenario.name):
            print(f"{scenario.name}\n    {scenario.shows}")
        return 0
    if problem := unfit(binary(), asked.mutant):
        print(f"{problem}; just _world, or just _mutants for a mutant")
        return 2
    try:
        outcomes = asyncio.run(run(asked, scenarios, make_stage))
    except asyncio.CancelledError:
        print(f"{called}: interrupted")
        return 130
    failed = sum(outcome.error is not None for outcome in outcomes)
    passed = len(outcomes) - failed
    # Most scenarios run on several platforms, and so count several times.
    of = "" if len(outcomes) == len(scenarios) else f"scenarios={len(scenarios)} "
    print(f"{called}: client={client.VERSION} {of}passed={passed} failed={failed}")
    return 0 if all(outcome.is_as_wanted for outcome in outcomes) else 1
