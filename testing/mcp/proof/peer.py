"""The recipient agent: it dials in as gateways do, records its letters and answers each."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
import uuid
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from props.desk import Gateway
from props.judge import until

TOKEN_SECS = 300
DIAL_SECS = 20
# The desk delivers nothing in the first seconds of a line.
HANDED_SECS = 20


class Peer:
    """A gateway on a line that answers a letter with its text reversed."""

    def __init__(self, platform: str, handle: str) -> None:
        self._hello = {"type": "hello", "platform": platform, "botId": handle}
        # The letters that it received, in order.
        self.letters: list[dict[str, Any]] = []
        self._is_up = False
        self._reading: asyncio.Task[None] | None = None

    async def open(self, port: int, gateway: Gateway) -> None:
        """Dials in; returns when the line is up."""
        headers = {"authorization": f"Bearer {upgrade_token(gateway)}"}
        url = f"ws://127.0.0.1:{port}/relay"
        line = await connect(url, additional_headers=headers, proxy=None)
        self._reading = asyncio.create_task(self._read(line))
        await say(line, self._hello)
        await until("the agent is on its line", lambda: self._is_up, DIAL_SECS)

    async def close(self) -> None:
        """Closes the line."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def letters_of(self, dispatch_id: str) -> list[dict[str, Any]]:
        """Returns the letters with one dispatch id."""
        return [one for one in self.letters if one["letter"]["dispatch_id"] == dispatch_id]

    def letters_with(self, text: str) -> list[dict[str, Any]]:
        """Returns the letters with this text."""
        return [one for one in self.letters if text in one["text"]]

    async def is_handed(self, text: str) -> None:
        """Waits for a letter with this text."""
        await until(f"a letter says {text}", lambda: bool(self.letters_with(text)), HANDED_SECS)

    async def _read(self, line: ClientConnection) -> None:
        try:
            async for message in line:
                for frame in map(json.loads, str(message).splitlines()):
                    await self._take(line, frame)
        finally:
            await line.close()

    async def _take(self, line: ClientConnection, frame: dict[str, Any]) -> None:
        self._is_up |= frame["type"] == "descriptor"
        if frame["type"] != "inbound":
            return
        await say(line, {"type": "inbound_ack", "bufferId": frame["bufferId"]})
        event = frame["event"]
        if "letter" in event:
            self.letters.append(event)
            await say(line, answer_to(event))


def answer_to(event: dict[str, Any]) -> dict[str, Any]:
    """Returns the agent's answer to a letter, in the form of the stock client."""
    action = {
        "op": "send",
        "chat_id": event["source"]["chat_id"],
        "content": turned(event["text"]),
        "reply_to": event["message_id"],
        "metadata": {"notify": True, "user_id": event["source"]["user_id"]},
    }
    return {"type": "outbound", "requestId": uuid.uuid4().hex, "action": action}


def turned(text: str) -> str:
    """Returns the text reversed."""
    return text[::-1]


async def say(line: ClientConnection, frame: dict[str, Any]) -> None:
    """Sends a frame."""
    await line.send(json.dumps(frame) + "\n")


def upgrade_token(gateway: Gateway) -> str:
    """Returns the upgrade token of a gateway."""
    signed = f"{gateway.name}:{int(time.time()) + TOKEN_SECS}"
    signature = hmac.new(gateway.secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    token = base64.urlsafe_b64encode(f"{signed}:{signature}".encode())
    return token.decode().rstrip("=")
