"""The scenarios, one function each; its docstring says what it shows.

A module in this folder is found by itself. Each scenario is run once per platform, with a stage
of its own.
"""

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from line.stage import Stage

Act = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """A scenario and what it needs."""

    act: Act
    # About how long it takes; the longest begin first.
    secs: float
    # Whether it takes PostgreSQL down.
    own_cluster: bool

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.act.__name__

    @property
    def shows(self) -> str:
        """What it shows, in a sentence or two."""
        return " ".join((self.act.__doc__ or "").split())


_found: list[Scenario] = []


def scenario(secs: float = 10, own_cluster: bool = False) -> Callable[[Act], Act]:
    """Makes a function a scenario."""

    def keep(act: Act) -> Act:
        _found.append(Scenario(act, secs, own_cluster))
        return act

    return keep


def find() -> list[Scenario]:
    """All scenarios, the longest first."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return sorted(_found, key=lambda found: (-found.secs, found.name))
