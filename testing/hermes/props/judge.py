"""How a scenario waits and how it judges.

Nothing here asks the desk. What counts is what the client and the platform saw.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence

POLL_SECS = 0.02
# A condition with a promised time has its own limit. This one only ends a wait for what never comes.
PATIENCE_SECS = 60


class Broken(AssertionError):
    """A promise was not kept."""


def require(holds: bool, what: str) -> None:
    """Says what is broken unless it holds."""
    if not holds:
        raise Broken(what)


async def until(what: str, holds: Callable[[], bool], secs: float = PATIENCE_SECS) -> None:
    """Waits for something that must come true."""
    end = time.monotonic() + secs
    while not holds():
        require(time.monotonic() < end, f"not within {secs:g} s: {what}")
        await asyncio.sleep(POLL_SECS)


async def until_so(what: str, holds: Callable[[], Awaitable[bool]], secs: float = PATIENCE_SECS) -> None:
    """The same for something that others have to be asked about."""
    end = time.monotonic() + secs
    while not await holds():
        require(time.monotonic() < end, f"not within {secs:g} s: {what}")
        await asyncio.sleep(POLL_SECS)


async def stays(what: str, holds: Callable[[], bool], secs: float) -> None:
    """Watches something that must not change; the one wait whose length is fixed."""
    end = time.monotonic() + secs
    while time.monotonic() < end:
        require(holds(), f"did not stay so for {secs:g} s: {what}")
        await asyncio.sleep(POLL_SECS)


def in_order(seen: Sequence[str], wanted: Sequence[str]) -> None:
    """Every wanted message was seen, and for the first time in the wanted order."""
    known = set(wanted)
    first = list(dict.fromkeys(message for message in seen if message in known))
    lost = [message for message in wanted if message not in set(first)]
    require(not lost, f"lost {len(lost)} of {len(wanted)} messages: {shown(lost)}")
    for got, want in zip(first, wanted, strict=True):
        require(got == want, f"out of order: {got} came where {want} belongs")


def once(seen: Sequence[str], wanted: Iterable[str]) -> None:
    """Each of these messages was seen exactly once."""
    counts = Counter(seen)
    wrong = [f"{message} {counts[message]} times" for message in wanted if counts[message] != 1]
    require(not wrong, f"not seen once: {shown(wrong)}")


def shown(items: Sequence[str], most: int = 12) -> str:
    """The first few, and how many more."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def plain(text: str) -> str:
    """A text without its spaces: some go where it is cut, and a page shows some otherwise."""
    return "".join(text.split())
