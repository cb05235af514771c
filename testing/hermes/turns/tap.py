"""The tap between the gateway and the desk: forwards every byte, and records the frames.

It changes nothing; both sides can notice it only by the port. It forwards other requests, such as an enrolment,
without a record.
"""

import asyncio
import contextlib
import json
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHUNK_BYTES = 64 * 1024
CONTINUED, TEXT, BINARY, CLOSE = 0, 1, 2, 8
NO_CODE = 1005


@dataclass(frozen=True)
class Frame:
    """A frame of the protocol, and its time."""

    at: float
    body: dict[str, Any]


@dataclass
class Side:
    """The frames of one side of a line."""

    frames: list[Frame] = field(default_factory=list)
    closed_with: int | None = None
    closed_at: float | None = None

    def of(self, type_: str) -> list[Frame]:
        """Returns the frames of one type."""
        return [frame for frame in self.frames if frame.body["type"] == type_]


@dataclass(eq=False)
class Line:
    """One dial and its traffic."""

    desk: Side = field(default_factory=Side)
    gateway: Side = field(default_factory=Side)
    is_over: bool = False

    @property
    def is_up(self) -> bool:
        """Returns true if the handshake is done and neither side has closed the line."""
        return bool(self.desk.of("descriptor")) and not self.is_over

    def handed(self) -> list[str]:
        """Returns the entries that the desk delivered."""
        return [frame.body["bufferId"] for frame in self.desk.of("inbound")]

    def texts(self) -> str:
        """Returns the texts of the delivered entries."""
        return " ".join(frame.body["event"]["text"] for frame in self.desk.of("inbound"))

    def acked_texts(self) -> str:
        """Returns the texts of the entries that the gateway acked."""
        acked, handed = self.acked(), self.desk.of("inbound")
        acked_frames = (frame for frame in handed if frame.body["bufferId"] in acked)
        return " ".join(frame.body["event"]["text"] for frame in acked_frames)

    def acked(self) -> list[str]:
        """Returns the entries that the gateway acked."""
        return [frame.body["bufferId"] for frame in self.gateway.of("inbound_ack")]


class Tap:
    """Listens where the gateway dials, and dials the desk for it."""

    def __init__(self, desk_port: int, log: Path) -> None:
        self.lines: list[Line] = []
        self.port = 0
        # The time of the last traffic.
        self.heard_at = 0.0
        self._desk_port = desk_port
        self._log = log
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Begins to listen."""
        self._server = await asyncio.start_server(self._dialled, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stops listening."""
        assert self._server is not None
        self._server.close()

    def lead_to(self, desk_port: int) -> None:
        """Dials another node from now on, like a load balancer."""
        self._desk_port = desk_port

    def handed(self) -> list[str]:
        """Returns the entries delivered on all lines."""
        return [entry for line in self.lines for entry in line.handed()]

    def acked(self) -> list[str]:
        """Returns the entries acked on all lines."""
        return [entry for line in self.lines for entry in line.acked()]

    async def _dialled(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line()
        with contextlib.suppress(ConnectionError):
            desk = await asyncio.open_connection("127.0.0.1", self._desk_port)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on(reader, desk[1], "gateway", line))
                both.create_task(self._pass_on(desk[0], writer, "desk", line))
        line.is_over = True
        writer.close()

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, who: str, line: Line
    ) -> None:
        ear = Ear()
        side = line.gateway if who == "gateway" else line.desk
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(CHUNK_BYTES):
                writer.write(data)
                if ear.hears_line(data) and line not in self.lines:
                    self.lines.append(line)
                for heard in ear.hear():
                    self._note(who, side, heard)
                await writer.drain()
        writer.close()

    def _note(self, who: str, side: Side, heard: str | int) -> None:
        now = self.heard_at = time.monotonic()
        if isinstance(heard, int):
            side.closed_with, side.closed_at = heard, now
            record: dict[str, Any] = {"close": heard}
        else:
            record = json.loads(heard)
            side.frames.append(Frame(now, record))
        with self._log.open("a") as log:
            log.write(json.dumps({"at": now, "line": len(self.lines), "who": who, **record}) + "\n")


class Ear:
    """Parses the text frames and the close code in the bytes of one direction."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._is_line: bool | None = None
        self._message = bytearray()

    def hears_line(self, data: bytes) -> bool:
        """Adds bytes. Returns true if they belong to a line: the head of either side shows this."""
        if self._is_line is not False:
            self._bytes += data
        if self._is_line is None:
            head, end, rest = self._bytes.partition(b"\r\n\r\n")
            if end:
                self._is_line = b"\r\nupgrade: websocket" in head.lower()
                self._bytes = rest
        return self._is_line is True

    def hear(self) -> Iterator[str | int]:
        """Yields the frames that the bytes complete."""
        while self._is_line and (frame := self._frame()):
            opcode, payload = frame
            if opcode == CLOSE:
                yield struct.unpack(">H", payload[:2])[0] if payload else NO_CODE
            elif opcode in (CONTINUED, TEXT, BINARY):
                self._message += payload
                *lines, self._message = self._message.split(b"\n")
                yield from (line.decode() for line in lines if line.strip())

    def _frame(self) -> tuple[int, bytes] | None:
        """Returns the next whole WebSocket frame, if there is one. Neither side compresses."""
        data = self._bytes
        if len(data) < 2:
            return None
        length, at = data[1] & 0x7F, 2
        if length >= 126:
            form, size = (">H", 2) if length == 126 else (">Q", 8)
            if len(data) < 2 + size:
                return None
            length, at = struct.unpack_from(form, data, 2)[0], 2 + size
        mask = bytes(4)
        if data[1] & 0x80:
            mask, at = bytes(data[at : at + 4]), at + 4
        if len(data) < at + length:
            return None
        payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data[at : at + length]))
        opcode = data[0] & 0x0F
        del data[: at + length]
        return opcode, payload
