"""Answers each message with its text, over polls. It goes idle at Ctrl-C."""

import asyncio

from nightdesk.poll import PollingDesk


async def main() -> None:
    async with PollingDesk.from_env() as desk:
        desk.idle_on_signals()
        async for entry in desk.entries():
            await entry.reply(entry.text)


asyncio.run(main())
