"""What was looked at, and what was found."""

from dataclasses import dataclass, field
from typing import Any

SHOWN_CHARS = 400


@dataclass
class Tally:
    """Checks, in the order they were made."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)

    def check(self, what: str, holds: bool, seen: Any = "") -> None:
        """Notes whether something holds; where it does not, also what was seen instead."""
        if holds:
            self.passed += 1
            print(f"ok     {what}")
            return
        self.failed.append(what)
        print(f"FAILED {what}: {str(seen)[:SHOWN_CHARS]}")

    def same(self, what: str, one: Any, other: Any) -> None:
        """Notes whether two are the same."""
        self.check(what, one == other, f"{one} and {other}")

    def __str__(self) -> str:
        checks = self.passed + len(self.failed)
        return f"checks={checks} passed={self.passed} failed={len(self.failed)}"
