"""Just enough of HTTP/1.1 to be called on 127.0.0.1."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Request:
    """One request."""

    path: str
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request; nothing if the other side hung up."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    lengths = [line for line in head if line.lower().startswith("content-length:")]
    length = int(lengths[0].split(":")[1]) if lengths else 0
    return Request(head[0].split(" ")[1], await reader.readexactly(length))


def response(answer: Any, status: str = "200 OK") -> bytes:
    """A response with a JSON body."""
    body = json.dumps(answer).encode()
    head = [f"HTTP/1.1 {status}", "content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body
