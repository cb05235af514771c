"""The checks and their outcomes."""

from dataclasses import dataclass, field
from typing import Any

SHOWN_CHARS = 400


@dataclass
class Tally:
    """Checks, in the order in which they ran."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)

    def check(self, what: str, holds: bool, seen: Any = "") -> None:
        """Records if a condition holds, and the observed value if it does not."""
        if holds:
            self.passed += 1
            print(f"ok     {what}")
            return
        self.failed.append(what)
        print(f"FAILED {what}: {str(seen)[:SHOWN_CHARS]}")

    def same(self, what: str, one: Any, other: Any) -> None:
        """Records if two values are the same."""
        self.check(what, one == other, f"{one} and {other}")

    def __str__(self) -> str:
        checks = self.passed + len(self.failed)
        return f"checks={checks} passed={self.passed} failed={len(self.failed)}"
