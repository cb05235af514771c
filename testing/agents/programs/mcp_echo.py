"""Answers each message with its text, exactly once, with the desk's MCP tools. `wait 5 WORD` takes five seconds."""

import asyncio
import base64
import hashlib
import hmac
import os
import sys
import time
from collections.abc import Generator
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

AGAIN_AFTER = 0.5
CALL_SECS = 70
TAKE_SECS = 20
TOKEN_LIFE = 300
UNAUTHORIZED = 401
CLIENT = {"name": "mcp-echo", "version": "1"}


class GatewayAuth(httpx2.Auth):
    """A fresh token for each request, made of the gateway's secret."""

    is_refused = False

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        name, secret = os.environ["NIGHTDESK_GATEWAY"], os.environ["NIGHTDESK_SECRET"]
        signed = f"{name}:{int(time.time()) + TOKEN_LIFE}"
        signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
        token = base64.urlsafe_b64encode(f"{signed}:{signature}".encode()).decode().rstrip("=")
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        self.is_refused = response.status_code == UNAUTHORIZED


class Revoked(Exception):
    """The desk takes no call of this gateway any more."""


class Echo:
    """The turns of the agent, and the line on which they are answered."""

    def __init__(self) -> None:
        self.client: Client
        self.line: str | None = None
        # The last turn of each chat, by which its turns keep their order.
        self.last: dict[str, asyncio.Task[None]] = {}
        self.running: dict[str, asyncio.Task[None]] = {}
        self.handled: set[str] = set()
        self.to_ack: set[str] = set()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool of the line."""
        try:
            result = await self.client.call_tool(tool, {"line": self.line, **arguments})
        except MCPError as error:
            if "revoked" in error.message:
                raise Revoked from error
            if "take without a line" in error.message:
                self.line = None
            raise
        return dict(result.structured_content or {})

    async def take(self) -> None:
        """Takes entries and begins their turns. An entry that was handled before is only acknowledged."""
        await self.ack()
        opening = {} if self.line else {"client": CLIENT}
        taken = await self.call("inbox_take", wait_seconds=TAKE_SECS, **opening)
        self.line = taken["line"]
        for frame in taken["frames"]:
            if frame["type"] == "interrupt_inbound":
                await self.stop(frame)
            elif frame["bufferId"] in self.handled:
                self.to_ack.add(frame["bufferId"])
            elif frame["bufferId"] not in self.running:
                self.begin(frame)
        await self.ack()

    def begin(self, frame: dict[str, Any]) -> None:
        """Begins a turn, after the one before in the same chat."""
        chat = frame["event"]["source"]["chat_id"]
        turn = asyncio.create_task(self.turn(frame, self.last.get(chat)))
        self.last[chat] = self.running[frame["bufferId"]] = turn

    async def turn(self, frame: dict[str, Any], before: asyncio.Task[None] | None) -> None:
        """Answers an entry, or lets it be stopped."""
        if before is not None:
            await asyncio.wait([before])
        entry, event = frame["bufferId"], frame["event"]
        words = event["text"].split()
        try:
            if words[0] == "wait":
                await asyncio.sleep(float(words[1]))
            await self.reply(entry, event)
        except asyncio.CancelledError:
            pass
        self.handled.add(entry)
        self.to_ack.add(entry)
        del self.running[entry]
        await self.ack()

    async def reply(self, entry: str, event: dict[str, Any]) -> None:
        """Sends the reply under an id made of the entry's: the desk sends it once, however often it is asked."""
        action = {"op": "send", "chat_id": event["source"]["chat_id"], "content": event["text"]}
        while True:
            try:
                if self.line is not None:
                    await self.call("send", request_id=f"reply-{entry}", action=action)
                    return
            except (MCPError, httpx2.HTTPError):
                pass
            await asyncio.sleep(AGAIN_AFTER)

    async def ack(self) -> None:
        """Acknowledges what was handled. Without a line, the entries come again, and are acknowledged then."""
        ids, self.to_ack = sorted(self.to_ack), set()
        if not ids or self.line is None:
            return
        try:
            await self.call("inbox_ack", buffer_ids=ids)
        except (MCPError, httpx2.HTTPError):
            # On the same line the desk does not repeat them.
            self.to_ack.update(ids if self.line else [])

    async def stop(self, frame: dict[str, Any]) -> None:
        """Stops the running turn of a session, and reports it."""
        chat = frame["session_key"].rsplit(":", 1)[-1]
        turn = self.last.get(chat)
        stopped = turn is not None and turn.cancel()
        await self.call("inbox_stopped", stop_id=frame["stop_id"], stopped=stopped)


async def main() -> None:
    """Takes entries until the gateway is revoked. A connection that breaks is opened again."""
    echo, auth = Echo(), GatewayAuth()
    while not auth.is_refused:
        try:
            async with httpx2.AsyncClient(auth=auth, timeout=CALL_SECS, trust_env=False) as http:
                transport = streamable_http_client(f"{os.environ['NIGHTDESK_URL']}/mcp", http_client=http)
                async with Client(transport, read_timeout_seconds=CALL_SECS) as echo.client:
                    while True:
                        await echo.take()
        except* Revoked:
            sys.exit("the desk revoked this gateway")
        except* (MCPError, httpx2.HTTPError, OSError) as group:
            print(f"again after {group.exceptions[0]!r}", flush=True)
        await asyncio.sleep(AGAIN_AFTER)
    sys.exit("the desk refused the gateway's secret: it is wrong, or was revoked")


if __name__ == "__main__":
    asyncio.run(main())
