"""Proves that `nightdesk doctor` names mistakes of operators, repairs those that it can, and raises no false alarm.

Prints a line for each planted mistake, and the sum. See README.md.
"""

import asyncio
import sys
import time
from dataclasses import dataclass

from plants import HOST, PLANTS, Plant, with_certificate
from props.judge import until_so

from stand import Report, Stand, Target

# An agent is reported after two calls, the second of which may come twenty seconds after the first.
NAMED_SECS = 90
RIGHT_SECS = 60
LOOK_SECS = 1.0


@dataclass
class Counts:
    """The figures of the proof."""

    planted: int = 0
    named: int = 0
    fixed: int = 0
    false_alarms: int = 0
    wrong: int = 0

    def alarm(self, where: str, findings: list[dict]) -> None:
        """Counts findings about parts of the desk that are right."""
        self.false_alarms += len(findings)
        for finding in findings:
            print(f"WRONG  {where}: {finding['check']}: {finding['text']}", flush=True)

    def require(self, holds: bool, told: str) -> None:
        """Counts a broken promise."""
        self.wrong += not holds
        if not holds:
            print(f"WRONG  {told}", flush=True)


async def look(stand: Stand, target: Target, plant: Plant) -> Report:
    """Examines a desk until the check names the mistake, or for long enough."""
    until = time.monotonic() + NAMED_SECS
    while True:
        report = await stand.examine(target)
        if report.of(plant.check) or time.monotonic() > until:
            return report
        await asyncio.sleep(LOOK_SECS)


async def try_plant(stand: Stand, plant: Plant, counts: Counts) -> None:
    """Plants a mistake, and judges the findings."""
    counts.planted += 1
    async with plant.planted(stand) as target:
        report = await look(stand, target, plant)
        finding = report.of(plant.check)
        counts.named += finding is not None
        counts.require(finding is not None, f"{plant.name}: not named by {plant.check}")
        counts.require(report.has_right_code, f"{plant.name}: exit code {report.code}")
        counts.require(all(one.get("next_step") for one in report.wrong), f"{plant.name}: no next step")
        expected = (plant.check, *plant.consequences)
        counts.alarm(plant.name, [one for one in report.wrong if one["check"] not in expected])
        if finding is not None:
            print(f"named  {plant.name}: {finding['text']}\n       next: {finding.get('next_step')}", flush=True)
        repairs = await stand.examine(target, "--fix")
        others = [one["text"] for one in repairs.findings if one["fixed"] and one["check"] != plant.check]
        counts.require(not others, f"{plant.name}: also repaired {others}")
        repaired = repairs.of(plant.check)
        is_fixed = repaired is not None and repaired["fixed"]
        counts.fixed += is_fixed
        counts.require(is_fixed == plant.is_fixable, f"{plant.name}: repaired is {is_fixed}")
        if is_fixed:
            await is_right(stand, target, f"after the repair: {plant.name}", counts)


async def is_right(stand: Stand, target: Target, where: str, counts: Counts) -> None:
    """Checks that nothing is found."""

    async def finds_nothing() -> bool:
        return not (await stand.examine(target)).wrong

    try:
        await until_so(where, finds_nothing, RIGHT_SECS)
    except AssertionError:
        counts.alarm(where, (await stand.examine(target)).wrong)


async def prove(counts: Counts) -> None:
    """Runs every plant on one desk."""
    stand = Stand()
    try:
        await stand.set_up()
        await is_right(stand, stand.serving, "a right desk", counts)
        await is_right(stand, Target(stand.desk.front.config), "a right configuration", counts)
        served = await with_certificate(stand, "right", HOST)
        await is_right(stand, served, "a right certificate", counts)
        for plant in PLANTS:
            await try_plant(stand, plant, counts)
            if plant.check != "wakes":
                await is_right(stand, stand.serving, f"after: {plant.name}", counts)
    finally:
        await stand.take_down()


def main() -> int:
    """Runs the proof."""
    counts = Counts()
    asyncio.run(prove(counts))
    print(
        f"doctor: planted={counts.planted} named={counts.named} fixed={counts.fixed} "
        f"false_alarms={counts.false_alarms}"
    )
    return 1 if counts.wrong or counts.false_alarms or counts.named < counts.planted else 0


if __name__ == "__main__":
    sys.exit(main())
