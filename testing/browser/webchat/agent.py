"""A minimal agent: it dials in, acknowledges entries, and sends the scripted answers."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

TOKEN_SECS = 300
PATIENCE_SECS = 15

# Computes the answer to an event: actions without their chat, or none.
Answer = Callable[[dict[str, Any]], list[dict[str, Any]]]


def token(name: str, secret: str) -> str:
    """Returns the upgrade token of a gateway."""
    signed = f"{name}:{int(time.time()) + TOKEN_SECS}"
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    return base64.urlsafe_b64encode(f"{signed}:{signature}".encode()).decode().rstrip("=")


class Agent:
    """An agent that may be asleep."""

    def __init__(self, port: int, name: str, secret: str, platform: str = "webchat") -> None:
        self.answer: Answer = lambda _: []
        self.heard: list[dict[str, Any]] = []
        self._url = f"ws://127.0.0.1:{port}/relay"
        self._who = (name, secret)
        self._platform = platform
        self._line: ClientConnection | None = None
        self._listening: asyncio.Task[None] | None = None
        self._numbers = itertools.count()
        self._asked: dict[str, asyncio.Future[dict[str, Any]]] = {}

    async def wake(self, answer: Answer | None = None) -> None:
        """Dials in, as a client that needs no time to boot."""
        self.answer = answer or self.answer
        bearer = {"authorization": f"Bearer {token(*self._who)}"}
        self._line = await connect(self._url, additional_headers=bearer)
        hello = {"type": "hello", "platform": self._platform, "botId": "", "command_manifest": []}
        await self._say(hello)
        self._listening = asyncio.create_task(self._listen())

    async def sleep(self) -> None:
        """Closes the line."""
        if self._line is not None:
            await self._line.close()
        if self._listening is not None:
            await self._listening
        self._line = self._listening = None

    async def does(self, chat: str, **action: Any) -> dict[str, Any]:
        """Performs an action in a chat, and returns its result."""
        request = f"look-{time.time_ns()}-{next(self._numbers)}"
        self._asked[request] = asyncio.get_running_loop().create_future()
        action["chat_id"] = chat
        await self._say({"type": "outbound", "requestId": request, "action": action})
        return await asyncio.wait_for(self._asked[request], PATIENCE_SECS)

    async def says(self, chat: str, text: str) -> dict[str, Any]:
        """Sends a message."""
        return await self.does(chat, op="send", content=text)

    async def _say(self, frame: dict[str, Any]) -> None:
        assert self._line is not None
        await self._line.send(json.dumps(frame) + "\n")

    async def _listen(self) -> None:
        assert self._line is not None
        async with asyncio.TaskGroup() as group:
            async for text in heard(self._line):
                frame = json.loads(text)
                if frame["type"] == "outbound_result":
                    self._asked.pop(frame["requestId"]).set_result(frame["result"])
                elif frame["type"] == "inbound":
                    await self._say({"type": "inbound_ack", "bufferId": frame["bufferId"]})
                    self.heard.append(frame["event"])
                    group.create_task(self._respond(frame["event"]))
            # The line has ended, so no result of a pending request will arrive.
            for asked in self._asked.values():
                asked.cancel()
            self._asked.clear()

    async def _respond(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionClosed):
            for action in self.answer(event):
                await self.does(event["source"]["chat_id"], **action)


async def heard(line: ClientConnection) -> AsyncIterator[str | bytes]:
    """Yields the frames of a line until it ends, for any reason."""
    with contextlib.suppress(ConnectionClosed):
        async for text in line:
            yield text


def saying(*texts: str) -> Answer:
    """Returns an answer function that always sends these texts."""
    return lambda _: [{"op": "send", "content": text} for text in texts]
