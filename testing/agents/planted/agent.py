"""A sound agent without an SDK. The planted faults are small changes of it."""

import asyncio
from typing import Any

from wires import Json, Lost, Revoked, Wire

AGAIN_AFTER = 0.5


class SoundAgent:
    """Answers each message once, in order in each chat, and acknowledges it then."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.handled: set[str] = set()
        self.running: dict[str, asyncio.Task[None]] = {}
        # The last turn of each chat.
        self.last: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Keeps a line until the gateway is revoked."""
        while True:
            try:
                await self.wire.open()
                while True:
                    for frame in await self.wire.receive():
                        await self.take(frame)
            except Revoked:
                await self.end_revoked()
            except Lost:
                await self.end_line()

    async def end_revoked(self) -> None:
        """Ends the program."""
        raise SystemExit("the gateway was revoked")

    async def end_line(self) -> None:
        """Rests before the next line. Turns go on."""
        await asyncio.sleep(AGAIN_AFTER)

    async def take(self, frame: Json) -> None:
        """Takes a frame."""
        if frame["type"] == "interrupt_inbound":
            await self.stop(frame)
        elif frame["type"] == "inbound":
            await self.take_entry(frame["bufferId"], frame["event"])

    async def take_entry(self, entry: str, event: Json) -> None:
        """Begins a turn. An entry that was handled before is only acknowledged."""
        if entry in self.handled:
            await self.ack(entry)
        elif entry not in self.running:
            self.begin(entry, event)

    def begin(self, entry: str, event: Json) -> None:
        """Begins a turn after the one before in the same chat."""
        chat = event["source"]["chat_id"]
        self.last[chat] = asyncio.create_task(self.turn(entry, event, self.last.get(chat)))
        self.running[entry] = self.last[chat]

    async def turn(self, entry: str, event: Json, before: asyncio.Task[None] | None) -> None:
        """Handles an entry."""
        if before is not None:
            await asyncio.wait([before])
        try:
            await self.think(event["text"])
            await self.reply(entry, event)
        except asyncio.CancelledError:
            pass
        self.handled.add(entry)
        self.running.pop(entry, None)
        await self.ack(entry)

    async def think(self, text: str) -> None:
        """Takes the time that the message asks for."""
        words = text.split()
        if words[0] == "wait":
            await asyncio.sleep(float(words[1]))

    async def reply(self, entry: str, event: Json) -> None:
        """Sends the answer under an id made of the entry's, until it has a result."""
        while True:
            try:
                await self.wire.send(self.request_id(entry), self.chat_of(event), event["text"])
                return
            except Lost:
                await asyncio.sleep(AGAIN_AFTER)

    def request_id(self, entry: str) -> str:
        """The same for each attempt."""
        return f"reply-{entry}"

    def chat_of(self, event: Json) -> str:
        """The chat of the answer."""
        return str(event["source"]["chat_id"])

    async def ack(self, entry: str) -> None:
        """Acknowledges. Without a line, the entry comes again and is acknowledged then."""
        try:
            await self.wire.ack(entry)
        except Lost:
            pass

    async def stop(self, frame: Json) -> None:
        """Stops the running turn of a session."""
        chat = str(frame["session_key"]).rsplit(":", 1)[-1]
        turn = self.last.get(chat)
        stopped = turn is not None and turn.cancel()
        await self.wire.report_stop(frame["stop_id"], stopped)


async def forever(*_: Any) -> None:
    """Waits."""
    await asyncio.Event().wait()
