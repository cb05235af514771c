"""An agent with the SDK for Python that works on each message until it is stopped."""

import asyncio
from dataclasses import replace

from nightdesk import Desk, Entry
from nightdesk.errors import SendError


async def work(entry: Entry) -> None:
    """Works on a message until a stop."""
    await entry.ack()
    place = replace(entry.place, metadata={**entry.place.metadata, "running": True})
    try:
        await entry.desk.send(place, "working on it")
    except SendError as error:
        # A letter has no place for unfinished answers.
        print("unsent", error, flush=True)
    print("began", entry.source.chat_id, flush=True)
    await entry.stopped()
    print("stopped", entry.source.chat_id, flush=True)


asyncio.run(Desk.from_env().run(work))
