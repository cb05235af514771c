"""A minimal HTTP/1.1 server side for 127.0.0.1."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Request:
    """One request."""

    method: str
    path: str
    # By lower-case name.
    headers: dict[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Returns the next request; None if the client closed the connection."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    pairs = (line.split(":", 1) for line in head[1:] if ":" in line)
    headers = {name.lower(): value.strip() for name, value in pairs}
    method, path, _ = head[0].split(" ")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body)


def response(answer: Any, status: str = "200 OK", *headers: str) -> bytes:
    """Returns a response with a JSON body."""
    body = json.dumps(answer).encode()
    head = [f"HTTP/1.1 {status}", "content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*head, *headers, "", ""]).encode() + body
