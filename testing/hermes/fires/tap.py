"""A proxy that records calls and forwards them."""

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from props.http import Request, read_request


@dataclass
class Call:
    """One call and its response."""

    request: Request
    # By the wall clock, as the instants of jobs are.
    at: float
    # 0: there was no response.
    status: int = 0
    answer: bytes = b""

    @property
    def body(self) -> dict[str, Any]:
        """Returns the body of the request."""
        return json.loads(self.request.body)

    @property
    def told(self) -> Any:
        """Returns the body of the response."""
        return json.loads(self.answer)

    @property
    def bearer(self) -> str:
        """Returns the bearer token of the request."""
        return self.request.headers.get("authorization", "").removeprefix("Bearer ")


class Tap:
    """Listens on 127.0.0.1. The subclasses produce the responses."""

    def __init__(self, log: Path) -> None:
        self.calls: list[Call] = []
        self.url = ""
        self._log = log
        self._server: asyncio.Server | None = None

    async def open(self, port: int) -> None:
        """Begins to listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{port}"

    async def close(self) -> None:
        """Stops listening."""
        if self._server is not None:
            self._server.close()

    async def answer(self, call: Call) -> bytes | None:
        """Returns the response; None closes the connection."""
        raise NotImplementedError

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # One call per connection: both sides get `connection: close`.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            if request := await read_request(reader):
                call = Call(request, time.time())
                self.calls.append(call)
                if said := await self.answer(call):
                    call.status, call.answer = split(said)
                    writer.write(said)
                    await writer.drain()
                self._note(call)
        writer.close()

    def _note(self, call: Call) -> None:
        # The record contains neither tokens nor secrets.
        noted = {"at": call.at, "path": call.request.path, "status": call.status}
        if call.request.method == "POST" and call.request.body.startswith(b"{"):
            noted["body"] = call.body
        with self._log.open("a") as log:
            print(json.dumps(noted), file=log)


async def pass_on(request: Request, port: int, path: str) -> bytes:
    """Forwards a request to another server, and returns its response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    headers = {**request.headers, "host": f"127.0.0.1:{port}", "connection": "close"}
    lines = [f"{request.method} {path} HTTP/1.1", *(f"{name}: {headers[name]}" for name in headers)]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + request.body)
    try:
        return await reader.read()
    finally:
        writer.close()


def split(said: bytes) -> tuple[int, bytes]:
    """Returns the status and the body of a response."""
    head, _, body = said.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body
