"""A desk in this process that does as a test says: a WebSocket server that speaks docs/protocol.md."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

GATEWAY, SECRET = "gw-test", "s3cr3t-canary-0123456789abcdef"
# A test that waits longer has failed.
WAIT = 5.0

Json = dict[str, Any]

DESCRIPTOR = {
    "contract_version": 1,
    "platform": "relay",
    "label": "Web chat",
    "max_message_length": 8000,
    "len_unit": "chars",
    "markdown_dialect": "markdown",
    "supported_ops": ["send", "edit"],
}


def entry(number: int, text: str = "hello", chat: str = "c1", **event: Any) -> Json:
    """Returns an entry with the id of its number."""
    source = {"platform": "discord", "chat_id": chat, "chat_type": "dm", "user_id": "u1", "thread_id": None}
    content = {"text": text, "message_type": "text", "message_id": f"m{number}", "source": source, **event}
    return {"type": "inbound", "event": content, "bufferId": f"entry-{number:037}"}


def entry_id(number: int) -> str:
    return str(entry(number)["bufferId"])


def is_token(header: str | None, secret: str = SECRET) -> bool:
    """Verifies an `Authorization` header as the desk does, and independently of the SDK."""
    scheme, _, token = (header or "").partition(" ")
    text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    signed, _, signature = text.rpartition(":")
    name, _, expiry = signed.rpartition(":")
    right = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    is_current = 0 <= int(expiry) - time.time() <= 660
    return scheme == "Bearer" and name == GATEWAY and signature == right and is_current


class FakeLine:
    """The desk's end of one line."""

    def __init__(self, socket: ServerConnection, desk: "FakeDesk") -> None:
        self.socket, self.desk = socket, desk
        # Every frame of the gateway that no test took yet.
        self.frames: asyncio.Queue[Json] = asyncio.Queue(1_000)
        self.ended = asyncio.Event()

    async def serve(self) -> None:
        try:
            async for message in self.socket:
                assert isinstance(message, str)
                assert message.endswith("\n")
                for line in message.splitlines():
                    await self._take(json.loads(line))
        except ConnectionClosed:
            pass
        finally:
            self.ended.set()

    async def _take(self, frame: Json) -> None:
        self.frames.put_nowait(frame)
        if frame["type"] == "hello" and self.desk.greets:
            await self.send({"type": "descriptor", "descriptor": DESCRIPTOR})
        if frame["type"] == "going_idle" and self.desk.confirms_idle:
            await self.send({"type": "going_idle_ack"})
        if frame["type"] == "outbound" and (result := self.desk.result(frame)) is not None:
            await self.send({"type": "outbound_result", "requestId": frame["requestId"], "result": result})

    async def send(self, *frames: Json) -> None:
        """Sends frames, each as one message."""
        for frame in frames:
            await self.socket.send(json.dumps(frame) + "\n")

    async def next(self, kind: str) -> Json:
        """Waits for the next frame of a kind, and drops the others before it."""
        async with asyncio.timeout(WAIT):
            while (frame := await self.frames.get())["type"] != kind:
                pass
        return frame

    async def acked(self) -> str:
        """Waits for the next ack, and returns its entry."""
        return str((await self.next("inbound_ack"))["bufferId"])

    async def has_no(self, kind: str, seconds: float = 0.1) -> None:
        """Fails if a frame of this kind comes within the time."""
        await asyncio.sleep(seconds)
        while not self.frames.empty():
            frame = self.frames.get_nowait()
            assert frame["type"] != kind, frame

    async def close(self, code: int, reason: str = "") -> None:
        await self.socket.close(code, reason)

    async def close_code(self) -> int | None:
        """Waits for the end of the line, and returns the code of the gateway's close."""
        async with asyncio.timeout(WAIT):
            await self.ended.wait()
        return self.socket.close_code


class FakeDesk:
    """The desk: it accepts dials, and hands their lines to the test."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[FakeLine] = asyncio.Queue(100)
        # The statuses and headers with which the next dials are refused.
        self.refusals: list[tuple[int, dict[str, str]]] = []
        self.dials: list[Headers] = []
        self.greets = self.confirms_idle = True
        self.result: Callable[[Json], Json | None] = lambda _: {"success": True, "message_id": "sent-1"}
        self.server: Server | None = None

    @property
    def url(self) -> str:
        assert self.server is not None
        host, port = next(iter(self.server.sockets)).getsockname()[:2]
        return f"http://{host}:{port}"

    def judge(self, socket: ServerConnection, request: Request) -> Response | None:
        self.dials.append(request.headers)
        if self.refusals:
            status, headers = self.refusals.pop(0)
            response = socket.respond(status, "refused")
            for name, value in headers.items():
                response.headers[name] = value
            return response
        is_dial = request.path == "/relay" and is_token(request.headers.get("Authorization"))
        return None if is_dial else socket.respond(401, "no")

    async def line(self) -> FakeLine:
        """Waits for the next line."""
        async with asyncio.timeout(WAIT):
            return await self.lines.get()


@asynccontextmanager
async def fake_desk() -> AsyncIterator[FakeDesk]:
    desk = FakeDesk()

    async def handle(socket: ServerConnection) -> None:
        line = FakeLine(socket, desk)
        desk.lines.put_nowait(line)
        await line.serve()

    options: Json = {"compression": None, "ping_interval": None, "max_size": 2**23, "close_timeout": 0.5}
    async with serve(handle, "127.0.0.1", 0, process_request=desk.judge, **options) as desk.server:
        yield desk
