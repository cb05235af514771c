"""Functions with which a scenario waits and judges.

None of them uses the desk's own view. Scenarios judge by the events that the client and the platform saw.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence

POLL_SECS = 0.02
# A condition with a promised time has its own limit. This limit only ends a wait for an event that never comes.
PATIENCE_SECS = 60


class Broken(AssertionError):
    """A broken promise."""


def require(holds: bool, what: str) -> None:
    """Raises `Broken` with this description unless the condition holds."""
    if not holds:
        raise Broken(what)


async def until(what: str, holds: Callable[[], bool], secs: float = PATIENCE_SECS) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + secs
    while not holds():
        require(time.monotonic() < end, f"not within {secs:g} s: {what}")
        await asyncio.sleep(POLL_SECS)


async def until_so(what: str, holds: Callable[[], Awaitable[bool]], secs: float = PATIENCE_SECS) -> None:
    """Waits until a condition holds that needs a request to check."""
    end = time.monotonic() + secs
    while not await holds():
        require(time.monotonic() < end, f"not within {secs:g} s: {what}")
        await asyncio.sleep(POLL_SECS)


async def stays(what: str, holds: Callable[[], bool], secs: float) -> None:
    """Checks that a condition stays true; the only wait with a fixed length."""
    end = time.monotonic() + secs
    while time.monotonic() < end:
        require(holds(), f"did not stay so for {secs:g} s: {what}")
        await asyncio.sleep(POLL_SECS)


def in_order(seen: Sequence[str], wanted: Sequence[str]) -> None:
    """Checks that every wanted message was seen, and for the first time in the wanted order."""
    known = set(wanted)
    first = list(dict.fromkeys(message for message in seen if message in known))
    lost = [message for message in wanted if message not in set(first)]
    require(not lost, f"lost {len(lost)} of {len(wanted)} messages: {shown(lost)}")
    for got, want in zip(first, wanted, strict=True):
        require(got == want, f"out of order: {got} came where {want} belongs")


def once(seen: Sequence[str], wanted: Iterable[str]) -> None:
    """Checks that each of these messages was seen exactly once."""
    counts = Counter(seen)
    wrong = [f"{message} {counts[message]} times" for message in wanted if counts[message] != 1]
    require(not wrong, f"not seen once: {shown(wrong)}")


def shown(items: Sequence[str], most: int = 12) -> str:
    """Returns the first few items, and the number of the others."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def plain(text: str) -> str:
    """Returns a text without its spaces: splitting a text drops some, and a page shows some differently."""
    return "".join(text.split())
