"""What a scenario is, and how those of a folder are found."""

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from props.postgres import Cluster
from props.stage import Stage

# Most scenarios are played on these, one at a time; some on a Discord and a Telegram at once, some
# without any.
EACH = ("discord", "webchat")
BOTH = ("both",)
NONE = ("none",)
PLATFORMS = EACH + BOTH + NONE

Act = Callable[[Any], Awaitable[None]]
MakeStage = Callable[[Path, Cluster, str], Stage]


@dataclass(frozen=True)
class Scenario:
    """A scenario and what it needs."""

    act: Act
    # About how long it takes; the longest begin first.
    secs: float
    # Whether it takes PostgreSQL down.
    own_cluster: bool
    # The bill it is on: those of one bill follow each other on one stage. Otherwise it is alone.
    bill: str | None
    # The platforms it makes sense on.
    platforms: tuple[str, ...]
    # What makes its stage, if not what makes those of the others.
    stage: MakeStage | None
    # Whether it is of the third that stands for the others where time is short.
    chosen: bool

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.act.__name__

    @property
    def shows(self) -> str:
        """What it shows, in a sentence or two."""
        return " ".join((self.act.__doc__ or "").split())


class Playbill:
    """The scenarios of a package; its modules are found by themselves."""

    def __init__(self, package: str, path: Iterable[str]) -> None:
        self._package = package
        self._path = path
        self._found: list[Scenario] = []

    def scenario(
        self,
        secs: float = 10,
        own_cluster: bool = False,
        bill: str | None = None,
        platforms: tuple[str, ...] = EACH,
        stage: MakeStage | None = None,
        chosen: bool = False,
    ) -> Callable[[Act], Act]:
        """Makes a function a scenario."""

        def keep(act: Act) -> Act:
            self._found.append(Scenario(act, secs, own_cluster, bill, platforms, stage, chosen))
            return act

        return keep

    def find(self) -> list[Scenario]:
        """All scenarios, in the order they are written."""
        for module in pkgutil.iter_modules(self._path):
            importlib.import_module(f"{self._package}.{module.name}")
        return list(self._found)


def bills(scenarios: list[Scenario], platform: str) -> list[list[Scenario]]:
    """Who shares a stage on a platform."""
    found: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        if platform in scenario.platforms:
            found.setdefault(scenario.bill or scenario.name, []).append(scenario)
    return list(found.values())
