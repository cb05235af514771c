"""Answers each message with its text, sleeps after a minute of quiet, and wakes up when the desk calls.

It listens at 127.0.0.1:8899, for a proxy with TLS in front of it. Needs uvicorn, or any other ASGI server.
"""

import asyncio
import os

import uvicorn

from nightdesk import Desk, End, Entry
from nightdesk.wake import WakeListener


async def echo(entry: Entry) -> None:
    await entry.reply(entry.text)


async def main() -> None:
    calls = WakeListener(os.environ["NIGHTDESK_WAKE_SECRET"])
    port = int(os.environ.get("NIGHTDESK_WAKE_PORT", "8899"))
    server = uvicorn.Server(uvicorn.Config(calls, port=port, access_log=False))
    serving = asyncio.create_task(server.serve())
    quiet_for = float(os.environ.get("NIGHTDESK_SLEEP_AFTER", "60"))
    while await Desk.from_env(sleep_after=quiet_for).run(echo) is End.ASLEEP:
        print("asleep", flush=True)
        await calls.woken()
    server.should_exit = True
    await serving


asyncio.run(main())
