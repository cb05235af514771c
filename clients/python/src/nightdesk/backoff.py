"""Delays between dials: docs/protocol.md, section 8."""

import random
from collections.abc import Callable

from nightdesk import limits


class Backoff:
    """The step of the backoff, and the count of closes with 4401."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._steps = self._revocations = 0

    def record_line(self, lived: float) -> None:
        """Records the life of a line. Only a line that lived resets the backoff."""
        if lived >= limits.LIVED:
            self._steps = self._revocations = 0

    def next_delay(self, spread: float = 0.0) -> float:
        """Returns a random part of the next step, or of `spread` if that is longer."""
        step = min(limits.BACKOFF_FIRST * 2.0 ** min(self._steps, 16), limits.BACKOFF_MAX)
        self._steps += 1
        return self._chance() * max(step, spread)

    def count_revocation(self) -> bool:
        """Counts a close with 4401. Returns true if the revocation is proven."""
        self._revocations += 1
        return self._revocations >= limits.REVOCATIONS_MAX
