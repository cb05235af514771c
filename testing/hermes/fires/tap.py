"""Where calls pass by: each is noted, and passed on."""

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
    """One call, and what was answered."""

    request: Request
    # By the clock on the wall, as the instants of jobs are.
    at: float
    # 0: it was not answered.
    status: int = 0
    answer: bytes = b""

    @property
    def body(self) -> dict[str, Any]:
        """What was posted."""
        return json.loads(self.request.body)

    @property
    def told(self) -> Any:
        """What was answered."""
        return json.loads(self.answer)

    @property
    def bearer(self) -> str:
        """The token that was shown."""
        return self.request.headers.get("authorization", "").removeprefix("Bearer ")


class Tap:
    """Listens on 127.0.0.1. What is answered is up to those that go on from here."""

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
        """Hangs up."""
        if self._server is not None:
            self._server.close()

    async def answer(self, call: Call) -> bytes | None:
        """What the caller is answered; nothing if it is hung up on."""
        raise NotImplementedError

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # One call each: both ends are told that the connection closes.
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
        # Neither tokens nor secrets.
        noted = {"at": call.at, "path": call.request.path, "status": call.status}
        if call.request.method == "POST" and call.request.body.startswith(b"{"):
            noted["body"] = call.body
        with self._log.open("a") as log:
            print(json.dumps(noted), file=log)


async def pass_on(request: Request, port: int, path: str) -> bytes:
    """Asks another for the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    headers = {**request.headers, "host": f"127.0.0.1:{port}", "connection": "close"}
    lines = [f"{request.method} {path} HTTP/1.1", *(f"{name}: {headers[name]}" for name in headers)]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + request.body)
    try:
        return await reader.read()
    finally:
        writer.close()


def split(said: bytes) -> tuple[int, bytes]:
    """The status and the body of an answer."""
    head, _, body = said.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body
