"""Calls tools without a client library, as skillscript's runtime does.

The runtime reads the `data:` lines of a response and takes the last one as the reply. It checks the status only for
an error, and then sends the same request once more.
"""

import json
from typing import Any

import httpx2

PROTOCOL = "2025-06-18"
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
CALL_SECS = 30


class Raw:
    """One connection of the runtime; each call goes to the given node."""

    def __init__(self, token: str) -> None:
        headers = HEADERS | ({"authorization": f"Bearer {token}"} if token else {})
        self._http = httpx2.AsyncClient(headers=headers, timeout=CALL_SECS, trust_env=False)

    async def close(self) -> None:
        """Closes the connection."""
        await self._http.aclose()

    async def initialize(self, port: int) -> dict[str, Any]:
        """Initializes and confirms it; returns the response."""
        client = {"name": "skillscript", "version": "1.0.0"}
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        answer = await self.post(port, {"id": 1, "method": "initialize", "params": params})
        await self.post(port, {"method": "notifications/initialized"})
        return last(answer)

    async def call(self, port: int, number: int, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool with this request id."""
        params = {"name": tool, "arguments": arguments}
        answer = await self.post(port, {"id": number, "method": "tools/call", "params": params})
        return last(answer)

    async def post(self, port: int, message: dict[str, Any]) -> httpx2.Response:
        """Posts a message."""
        url = f"http://127.0.0.1:{port}/mcp"
        return await self._http.post(url, json={"jsonrpc": "2.0", **message})


def last(answer: httpx2.Response) -> dict[str, Any]:
    """Returns the line that the runtime takes as the reply; an empty object if there is none."""
    lines = [line for line in answer.text.splitlines() if line.startswith("data:")]
    said = [line.removeprefix("data:").strip() for line in lines]
    return json.loads(said[-1]) if said and said[-1] else {}
