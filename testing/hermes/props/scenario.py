"""The type of a scenario, and the search for the scenarios of a folder."""

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from props.postgres import Cluster
from props.stage import Stage

# Most scenarios run on these, one at a time; some on Discord and Telegram at once, some without any.
EACH = ("discord", "webchat")
BOTH = ("both",)
NONE = ("none",)
PLATFORMS = EACH + BOTH + NONE

Act = Callable[[Any], Awaitable[None]]
MakeStage = Callable[[Path, Cluster, str], Stage]


@dataclass(frozen=True)
class Scenario:
    """A scenario and its needs."""

    act: Act
    # The approximate duration; the longest begin first.
    secs: float
    # True if the scenario stops PostgreSQL.
    own_cluster: bool
    # The bill of the scenario: scenarios of one bill run one after the other on one stage. Without one it has its own
    # stage.
    bill: str | None
    # The platforms on which it makes sense.
    platforms: tuple[str, ...]
    # The constructor of its stage, if it differs from that of the others.
    stage: MakeStage | None
    # True if it belongs to the third that represents the others in a short run.
    chosen: bool

    @property
    def name(self) -> str:
        """Returns its name."""
        return self.act.__name__

    @property
    def shows(self) -> str:
        """Returns its description, in a sentence or two."""
        return " ".join((self.act.__doc__ or "").split())


class Playbill:
    """The scenarios of a package; its modules are found automatically."""

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
        """Registers a function as a scenario."""

        def keep(act: Act) -> Act:
            self._found.append(Scenario(act, secs, own_cluster, bill, platforms, stage, chosen))
            return act

        return keep

    def find(self) -> list[Scenario]:
        """Returns all scenarios, in the order in which they are written."""
        for module in pkgutil.iter_modules(self._path):
            importlib.import_module(f"{self._package}.{module.name}")
        return list(self._found)


def bills(scenarios: list[Scenario], platform: str) -> list[list[Scenario]]:
    """Groups the scenarios that share a stage on a platform."""
    found: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        if platform in scenario.platforms:
            found.setdefault(scenario.bill or scenario.name, []).append(scenario)
    return list(found.values())
