"""The line over a WebSocket, with bounds on everything."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Awaitable
from time import monotonic
from typing import TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from nightdesk import limits
from nightdesk.errors import REVOKED, LineError, read_retry_after
from nightdesk.line import Line
from nightdesk.wire import Json, LineSplitter

T = TypeVar("T")

# On its finest level the library logs frames and the token, so this logger has a level of its own.
_socket_log = logging.getLogger("nightdesk.socket")
_socket_log.setLevel(logging.WARNING)

_BROKEN = 1006


class _Connect(connect):
    def process_redirect(self, exc: Exception) -> Exception:
        """Follows no redirect: only the settings name the desk's address."""
        return exc


async def dial(url: str, authorization: str, tls: ssl.SSLContext | None) -> "SocketLine":
    """Opens a line, or raises a `LineError`."""
    dialled = _Connect(
        url,
        ssl=tls if url.startswith("wss") else None,
        additional_headers={"Authorization": authorization},
        user_agent_header=limits.USER_AGENT,
        compression=None,
        proxy=None,
        open_timeout=limits.DIAL_WAIT,
        close_timeout=limits.CLOSE_WAIT,
        ping_interval=None,
        max_size=limits.FRAME_BYTES_MAX,
        logger=_socket_log,
    )
    try:
        return SocketLine(await dialled)
    except InvalidStatus as error:
        status, headers = error.response.status_code, error.response.headers
        text = f"the desk refused the line with HTTP status {status}"
        raise LineError(text, status, retry_after=read_retry_after(headers.get("Retry-After"))) from None
    except (OSError, InvalidHandshake, EOFError, UnicodeError) as error:
        reason = str(error) if isinstance(error, OSError) else type(error).__name__
        raise LineError(f"the desk cannot be reached: {reason}") from None


class SocketLine(Line):
    """A line over a WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        super().__init__()
        self._socket = socket
        self._splitter = LineSplitter()
        self._ping_at = self.opened_at + limits.PING_EVERY

    async def write(self, frame: bytes) -> None:
        """Writes a frame."""
        await self._write(self._socket.send(frame, text=True))

    async def ping(self) -> None:
        """Pings every 25 seconds. A pong is a sign of life, as any frame is."""
        if monotonic() >= self._ping_at:
            self._ping_at = monotonic() + limits.PING_EVERY
            if (pong := await self._write(self._socket.ping())) is not None:
                asyncio.ensure_future(pong).add_done_callback(self._record_pong)

    async def close(self, code: int) -> None:
        """Closes the WebSocket."""
        await self._socket.close(code)

    async def _next_frames(self) -> list[Json]:
        try:
            return self._splitter.push(await self._socket.recv())
        except ConnectionClosed as closed:
            end = closed.rcvd or closed.sent
            code = end.code if end is not None else _BROKEN
            # An expired token is no revocation: the next dial has another one.
            is_expired = code == REVOKED and end is not None and end.reason == "expired"
            raise LineError(f"the line ended with code {code}", None if is_expired else code) from None

    async def receive(self, until: float) -> list[Json]:
        """Waits for frames, and not beyond the next ping."""
        return await super().receive(min(until, self._ping_at))

    def _record_pong(self, pong: "asyncio.Future[float]") -> None:
        if not pong.cancelled() and pong.exception() is None:
            self.alive_at = monotonic()

    async def _write(self, writing: Awaitable[T]) -> T | None:
        """Waits for a write. A line that takes nothing for half a minute is dead."""
        with contextlib.suppress(ConnectionClosed):
            try:
                async with asyncio.timeout(limits.WRITE_WAIT):
                    return await writing
            except TimeoutError:
                self.alive_at = float("-inf")
                self.stir()
        return None
