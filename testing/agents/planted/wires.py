"""The three transports of an agent that takes its entries itself, without an SDK."""

import asyncio
import base64
import hashlib
import hmac
import itertools
import json
import os
import time
from typing import Any, Protocol

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

Json = dict[str, Any]

CLIENT = {"name": "planted", "version": "1"}
TOKEN_LIFE = 300
TAKE_SECS = 20
CALL_SECS = 30.0
REVOKED = 4401


class Lost(Exception):
    """The line ended, or a call has no result."""


class Revoked(Exception):
    """The gateway was revoked."""


class Wire(Protocol):
    """A transport. Every call may raise `Lost` or `Revoked`."""

    async def open(self) -> None:
        """Opens a line."""

    async def receive(self) -> list[Json]:
        """Waits for frames."""

    async def ack(self, entry: str) -> None:
        """Acknowledges an entry."""

    async def send(self, request_id: str, chat: str, text: str) -> None:
        """Sends a text, and waits for its result."""

    async def report_stop(self, stop_id: str, stopped: bool) -> None:
        """Answers a stop order."""


def authorization() -> Json:
    """Returns the header with a fresh token."""
    name, secret = os.environ["NIGHTDESK_GATEWAY"], os.environ["NIGHTDESK_SECRET"]
    signed = f"{name}:{int(time.time()) + TOKEN_LIFE}"
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    token = base64.urlsafe_b64encode(f"{signed}:{signature}".encode()).decode().rstrip("=")
    return {"Authorization": f"Bearer {token}"}


def send_action(chat: str, text: str) -> Json:
    """Returns the action of a text."""
    return {"op": "send", "chat_id": chat, "content": text}


def stop_answer(stop_id: str, stopped: bool) -> Json:
    """Returns the answer to a stop order."""
    return {"stop_id": stop_id, "stopped": stopped}


class LineWire:
    """A WebSocket."""

    def __init__(self) -> None:
        self.socket: ClientConnection | None = None
        self.results: dict[str, asyncio.Future[Json]] = {}

    async def open(self) -> None:
        """Dials and says hello."""
        url = os.environ["NIGHTDESK_URL"].replace("http", "ws", 1) + "/relay"
        try:
            self.socket = await connect(url, additional_headers=authorization(), compression=None)
        except (OSError, InvalidHandshake) as error:
            raise Lost from error
        await self.write({"type": "hello", "platform": "relay", "botId": "", "client": CLIENT})

    async def write(self, frame: Json) -> None:
        """Writes a frame."""
        if self.socket is None:
            raise Lost
        try:
            await self.socket.send(json.dumps(frame) + "\n")
        except ConnectionClosed as error:
            raise Lost from error

    async def receive(self) -> list[Json]:
        """Reads a message. The results of sends go to their callers."""
        assert self.socket is not None
        try:
            frames = [json.loads(line) for line in str(await self.socket.recv(decode=True)).splitlines()]
        except ConnectionClosed as error:
            self.socket = None
            for result in self.results.values():
                if not result.done():
                    result.set_exception(Lost())
            if error.rcvd is not None and error.rcvd.code == REVOKED:
                raise Revoked from error
            raise Lost from error
        for frame in frames:
            result = self.results.get(frame.get("requestId", ""))
            if frame["type"] == "outbound_result" and result is not None and not result.done():
                result.set_result(frame["result"])
        return frames

    async def ack(self, entry: str) -> None:
        """Writes an ack."""
        await self.write({"type": "inbound_ack", "bufferId": entry})

    async def send(self, request_id: str, chat: str, text: str) -> None:
        """Writes a send, and waits for its result."""
        self.results[request_id] = asyncio.get_running_loop().create_future()
        try:
            await self.write({"type": "outbound", "requestId": request_id, "action": send_action(chat, text)})
            await self.results[request_id]
        finally:
            del self.results[request_id]

    async def report_stop(self, stop_id: str, stopped: bool) -> None:
        """Writes the answer."""
        await self.write({"type": "interrupt_result", **stop_answer(stop_id, stopped)})


class PollWire:
    """Requests to `/v1/line/…`."""

    names = {"take": "take", "ack": "ack", "send": "send", "stopped": "stopped"}

    def __init__(self) -> None:
        self.http = httpx.AsyncClient(timeout=TAKE_SECS + CALL_SECS, trust_env=False)
        self.line: str | None = None
        # The frames that came as the line was opened.
        self.first: list[Json] = []

    async def request(self, name: str, body: Json) -> httpx.Response:
        """Makes a request."""
        url = f"{os.environ['NIGHTDESK_URL']}/v1/line/{name}"
        return await self.http.post(url, json=body, headers=authorization())

    def read(self, response: httpx.Response) -> Json:
        """Returns the body of a response."""
        if response.status_code == 403:
            raise Revoked
        if response.status_code == 410:
            self.line = None
        if not response.is_success:
            raise Lost
        return dict(response.json()) if response.content else {}

    async def call(self, name: str, **fields: Any) -> Json:
        """Makes a call of the line."""
        if self.line is None and name != "take":
            raise Lost
        line = {"line": self.line} if self.line else {}
        try:
            return self.read(await self.request(self.names[name], {**line, **fields}))
        except httpx.HTTPError as error:
            raise Lost from error

    async def open(self) -> None:
        """Opens a line, unless there is one."""
        if self.line is None:
            self.first = await self.take(wait_seconds=0, client=CLIENT)

    async def take(self, **fields: Any) -> list[Json]:
        """Takes frames."""
        taken = await self.call("take", **fields)
        self.line = taken["line"]
        return list(taken["frames"])

    async def receive(self) -> list[Json]:
        """Waits for frames."""
        first, self.first = self.first, []
        return first or await self.take(wait_seconds=TAKE_SECS)

    async def ack(self, entry: str) -> None:
        """Acknowledges, also again after a lost response: the desk repeats no entry on the same line."""
        while True:
            try:
                await self.call("ack", buffer_ids=[entry])
                return
            except Lost:
                if self.line is None:
                    return
                await asyncio.sleep(1)

    async def send(self, request_id: str, chat: str, text: str) -> None:
        """Sends."""
        await self.call("send", request_id=request_id, action=send_action(chat, text))

    async def report_stop(self, stop_id: str, stopped: bool) -> None:
        """Reports."""
        await self.call("stopped", **stop_answer(stop_id, stopped))


class ToolWire(PollWire):
    """The tools of the same meaning."""

    names = {"take": "inbox_take", "ack": "inbox_ack", "send": "send", "stopped": "inbox_stopped"}

    def __init__(self) -> None:
        super().__init__()
        self.numbers = itertools.count(1)

    async def request(self, name: str, body: Json) -> httpx.Response:
        """Calls a tool."""
        params = {"name": name, "arguments": body}
        call = {"jsonrpc": "2.0", "id": next(self.numbers), "method": "tools/call", "params": params}
        headers = {**authorization(), "Accept": "application/json, text/event-stream"}
        return await self.http.post(f"{os.environ['NIGHTDESK_URL']}/mcp", json=call, headers=headers)

    def read(self, response: httpx.Response) -> Json:
        """Returns the result of the last event."""
        if response.status_code == 401:
            # This route does not tell a revoked gateway from a wrong secret.
            raise Revoked
        if not response.is_success:
            return super().read(response)
        data = [line.removeprefix("data:") for line in response.text.splitlines() if line.startswith("data:")]
        event = json.loads(data[-1])
        if "error" in event:
            message = event["error"]["message"]
            if "revoked" in message:
                raise Revoked
            if "take without a line" in message:
                self.line = None
            raise Lost
        return dict(event["result"].get("structuredContent") or {})


WIRES = {"line": LineWire, "polling": PollWire, "mcp": ToolWire}
