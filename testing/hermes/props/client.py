"""The stock client under test, and the facts about its version that scenarios need."""

import os
from collections.abc import Callable, Iterable, Sequence

from props.judge import Broken, shown, until

VERSION = os.environ["NIGHTDESK_CLIENT"]
# The client from PyPI. It only sends; every later one also reacts, types, edits and asks.
IS_0_19 = VERSION == "0.19.0"
# Its handler gets a message at once. A later client first waits for the response to its own 👀, and gives up after 30 s
# if the line ended meanwhile.
HANDLER_SECS = 20 if IS_0_19 else 55


def command_text(name: str) -> str:
    """Returns the text that its handler gets for a slash command of Discord."""
    return name if IS_0_19 else f"/{name}"


async def arrive(
    seen: Callable[[], Iterable[str]], wanted: Sequence[str], secs: float = HANDLER_SECS
) -> None:
    """Waits for messages, and names those that did not come."""
    try:
        await until("all messages arrive", lambda: set(wanted) <= set(seen()), secs)
    except Broken as late:
        lost = [message for message in wanted if message not in set(seen())]
        what = f"lost {len(lost)} of {len(wanted)} messages, or not there within {secs:g} s"
        raise Broken(f"{what}: {shown(lost)}") from late
