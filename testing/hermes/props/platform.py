"""The external platform: it posts events to the desk, and receives the desk's deliveries.

It behaves like a real platform: it repeats a post without a 200, with the same id, before any later one of the same
chat.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from props.http import read_request, response

RETRY_SECS = 0.25
ANSWER_SECS = 10
GIVE_UP_SECS = 90
# The operations that write a message.
WRITES = ("send", "prompt", "follow_up", "send_media")
CHAT_INFO = {"name": "Ann's evenings", "type": "dm"}


@dataclass(frozen=True)
class Answer:
    """The desk's response to one attempt; status 0 is no response."""

    message: str
    status: int
    began_at: float
    took_secs: float


@dataclass
class Platform:
    """One bot's platform."""

    name: str
    handle: str
    key: str
    hook_url: str = ""
    answers: list[Answer] = field(default_factory=list)
    delivered: list[dict[str, Any]] = field(default_factory=list)
    # Called for every attempt that got a 200, at that moment.
    on_ok: Callable[[], None] = lambda: None
    _said: int = 0

    def __post_init__(self) -> None:
        self._http = httpx.AsyncClient(timeout=ANSWER_SECS, trust_env=False)
        self._answering = asyncio.Event()
        self._answering.set()
        self._server: asyncio.Server | None = None

    async def open(self) -> str:
        """Begins to receive deliveries, and returns the URL."""
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/deliver"

    async def close(self) -> None:
        """Stops listening."""
        await self._http.aclose()
        if self._server is not None:
            self._server.close()

    def hold_answers(self) -> None:
        """Receives deliveries and holds the responses back."""
        self._answering.clear()

    def give_answers(self) -> None:
        """Sends the responses that were held back, and responds at once from now on."""
        self._answering.set()

    def sends(self) -> list[dict[str, Any]]:
        """Returns the delivered messages, without reactions and typing."""
        return [call for call in self.delivered if call["send"]["op"] == "send"]

    def messages(self, chat: str) -> list[str]:
        """Returns the messages that people in a chat see, in order, each as it was last edited."""
        seen: dict[str, str] = {}
        for call in self.delivered:
            send = call["send"]
            if send["chat_id"] != chat:
                continue
            if send["op"] == "edit":
                seen[send["message_id"]] = send["content"]
            elif send["op"] in WRITES:
                seen[call["message_id"]] = send["content"]
        return list(seen.values())

    def ok(self) -> list[str]:
        """Returns the messages that the desk answered with 200."""
        return list(dict.fromkeys(a.message for a in self.answers if a.status == 200))

    async def say(self, text: str | None = None, chat: str | None = None) -> str:
        """Posts one message until the desk has it, and returns its id."""
        message, body = self.write(text, chat)
        await self.post_until_taken(message, body)
        return message

    async def say_many(self, count: int) -> list[str]:
        """Posts messages one after the other."""
        return [await self.say() for _ in range(count)]

    async def interact(self, chat: str) -> str:
        """Posts an interaction in a chat, such as a slash command; its name is the message id."""
        message = self._next()
        command = {
            "type": 2,
            "id": f"i-{message}",
            "channel_id": chat,
            "user": {"id": "u1", "username": "Ann"},
            "data": {"name": message},
        }
        forward = {
            "method": "POST",
            "path": "/interactions",
            "headers": {"content-type": "application/json"},
            "body_b64": base64.b64encode(json.dumps(command).encode()).decode(),
            "chat_id": chat,
            "chat_type": "dm",
            "user_id": "u1",
            "scope_id": None,
        }
        body = json.dumps({"id": f"ev-{message}", "event": {"passthrough": forward}}).encode()
        await self.post_until_taken(message, body)
        return message

    def write(
        self,
        text: str | None = None,
        chat: str | None = None,
        source: dict[str, Any] | None = None,
        **more: Any,
    ) -> tuple[str, bytes]:
        """Returns a message and its body. Each has its own chat: the client merges messages within a chat."""
        message = self._next()
        where = {"chat_id": chat or f"chat-{message}", "chat_type": "dm"}
        where |= {"user_id": "u1", "user_name": "Ann", **(source or {})}
        event: dict[str, Any] = {"text": text or f"text of {message}", "message_type": "text"}
        event |= {"message_id": message, "source": where, **more}
        return message, json.dumps({"id": f"ev-{message}", "event": event}).encode()

    async def post_until_taken(self, message: str, body: bytes) -> None:
        """Posts until the response is 200."""
        end = time.monotonic() + GIVE_UP_SECS
        while (status := await self.post(message, body)) != 200:
            if status not in (0, 503) or time.monotonic() > end:
                raise ConnectionError(f"{message} was answered with {status}")
            await asyncio.sleep(RETRY_SECS)

    async def post(self, message: str, body: bytes, secs: float = ANSWER_SECS) -> int:
        """Posts once. Returns the status, or 0 without a response."""
        signature = hmac.new(self.key.encode(), body, hashlib.sha256).hexdigest()
        headers = {"x-scripted-signature": signature, "content-type": "application/json"}
        began_at = time.monotonic()
        try:
            async with asyncio.timeout(secs):
                answer = await self._http.post(self.hook_url, content=body, headers=headers)
            status = answer.status_code
        except (httpx.TransportError, TimeoutError):
            status = 0
        took_secs = time.monotonic() - began_at
        self.answers.append(Answer(message, status, began_at, took_secs))
        if status == 200:
            self.on_ok()
        return status

    def _next(self) -> str:
        self._said += 1
        return f"m{self._said}"

    def _answer(self, call: dict[str, Any]) -> dict[str, str]:
        if call["send"]["op"] == "get_chat_info":
            return CHAT_INFO
        self.delivered.append(call)
        # The platform's responses are part of the record.
        call["message_id"] = f"out-{len(self.delivered)}"
        return {"message_id": call["message_id"]}

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                answer = self._answer(json.loads(request.body))
                await self._answering.wait()
                writer.write(response(answer))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
