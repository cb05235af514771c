"""Answers each message with its text."""

import asyncio

from nightdesk import Desk, Entry


async def echo(entry: Entry) -> None:
    await entry.reply(entry.text)


asyncio.run(Desk.from_env().run(echo))
