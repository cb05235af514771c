"""An agent that calls tools with the official client, on both nodes of the desk in turn."""

import itertools
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

CALL_SECS = 60
# The client's modes: the newest protocol, or the earlier handshake.
MODES = ("auto", "legacy")


@dataclass(frozen=True)
class Failed:
    """A failed call, as the protocol reports it."""

    code: int
    message: str


class Caller:
    """A caller with a token, or without one, that is connected to every node."""

    def __init__(self, ports: tuple[int, ...], token: str) -> None:
        self._urls = [f"http://127.0.0.1:{port}" for port in ports]
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self.http = httpx2.AsyncClient(headers=headers, timeout=CALL_SECS, trust_env=False)
        self.clients: list[Client] = []
        self._turns = itertools.count()
        self._ends = AsyncExitStack()

    async def open(self) -> "Caller":
        """Connects to every node."""
        await self._ends.enter_async_context(self.http)
        for url, mode in zip(self._urls, MODES, strict=True):
            transport = streamable_http_client(f"{url}/mcp", http_client=self.http)
            client = Client(transport, mode=mode, read_timeout_seconds=CALL_SECS)
            self.clients.append(await self._ends.enter_async_context(client))
        return self

    async def close(self) -> None:
        """Closes the connections."""
        await self._ends.aclose()

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Calls a tool on the next node; returns the result or the failure."""
        client = self.clients[next(self._turns) % len(self.clients)]
        try:
            result = await client.call_tool(tool, arguments)
        except MCPError as error:
            return Failed(error.code, error.message)
        return result.structured_content

    async def twice(self, tool: str, **arguments: Any) -> tuple[Any, Any]:
        """Calls a tool, and calls it again on the other node."""
        first = await self.call(tool, **arguments)
        return first, await self.call(tool, **arguments)

    async def get(self, path: str) -> Any:
        """Returns the response of the desk's own API."""
        url = self._urls[next(self._turns) % len(self._urls)]
        answer = await self.http.get(url + path)
        answer.raise_for_status()
        return answer.json()
