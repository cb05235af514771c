"""The same by hand, as skillscript's runtime calls tools: with nothing but what it understands.

It reads the lines of an answer that begin with `data:`, and takes the last one for the reply. It
looks at no status but whether that is an error: then it sends the same once more.
"""

import json
from typing import Any

import httpx2

PROTOCOL = "2025-06-18"
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
CALL_SECS = 30


class Raw:
    """One connection of the runtime's; each call goes to the node that is named."""

    def __init__(self, token: str) -> None:
        headers = HEADERS | ({"authorization": f"Bearer {token}"} if token else {})
        self._http = httpx2.AsyncClient(headers=headers, timeout=CALL_SECS, trust_env=False)

    async def close(self) -> None:
        """Hangs up."""
        await self._http.aclose()

    async def initialize(self, port: int) -> dict[str, Any]:
        """Begins, and says that it has begun; what it was answered."""
        client = {"name": "skillscript", "version": "1.0.0"}
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        answer = await self.post(port, {"id": 1, "method": "initialize", "params": params})
        await self.post(port, {"method": "notifications/initialized"})
        return last(answer)

    async def call(self, port: int, number: int, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool under this number."""
        params = {"name": tool, "arguments": arguments}
        answer = await self.post(port, {"id": number, "method": "tools/call", "params": params})
        return last(answer)

    async def post(self, port: int, message: dict[str, Any]) -> httpx2.Response:
        """Posts a message."""
        url = f"http://127.0.0.1:{port}/mcp"
        return await self._http.post(url, json={"jsonrpc": "2.0", **message})


def last(answer: httpx2.Response) -> dict[str, Any]:
    """What the runtime takes for the reply; nothing if there is no such line."""
    lines = [line for line in answer.text.splitlines() if line.startswith("data:")]
    said = [line.removeprefix("data:").strip() for line in lines]
    return json.loads(said[-1]) if said and said[-1] else {}
