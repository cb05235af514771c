"""Requests to the desk, from their frame to their result."""

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from nightdesk import limits
from nightdesk.errors import BusyError, NoLineError, OverError
from nightdesk.line import Line
from nightdesk.wire import Json

_OVER = "nothing was sent: the agent has no line any more; connect again"


class Sends:
    """Unanswered requests. Each is written at most once, and its caller always gets an answer."""

    def __init__(self) -> None:
        # The desk remembers ids for a day, so they differ between processes.
        self._prefix, self._numbers = secrets.token_hex(16), itertools.count()
        # Requests that wait for a line or for a place on it, in order, and those that were written.
        self._waiting = self._waiting_bytes = 0
        self._in_flight: dict[str, asyncio.Future[Json | None]] = {}
        self._places = asyncio.Semaphore(limits.SENDS_IN_FLIGHT_MAX)
        self._line: Line | None = None
        self._has_line_or_is_over = asyncio.Event()
        self._is_over = False

    def next_id(self) -> str:
        """Returns a request id that no other process uses."""
        return f"{self._prefix}{next(self._numbers):08x}"

    async def request(self, request_id: str, frame: bytes) -> Json | None:
        """Writes a frame once there is a place for it, and waits for its result. None: none came."""
        async with self._place_for(frame) as line:
            if request_id in self._in_flight:
                raise BusyError("nothing was sent: the same request is in progress")
            answer: asyncio.Future[Json | None] = asyncio.get_running_loop().create_future()
            self._in_flight[request_id] = answer
            try:
                await line.write(frame)
                return await asyncio.wait_for(answer, limits.RESULT_WAIT)
            except TimeoutError:
                return None
            finally:
                del self._in_flight[request_id]

    async def say(self, frame: bytes) -> None:
        """Writes a frame that has no result."""
        async with self._place_for(frame) as line:
            await line.write(frame)

    def take_result(self, request_id: str | None, result: Json | None) -> None:
        """Takes a result. One that no caller waits for any more is ignored."""
        answer = self._in_flight.get(request_id or "")
        if answer is not None and not answer.done():
            answer.set_result(result)

    def begin_line(self, line: Line) -> None:
        """Writes the waiting requests on a line that answered every hello."""
        self._line = line
        self._has_line_or_is_over.set()

    def end_line(self) -> None:
        """Ends the requests of the line: they may have been executed."""
        self._line = None
        self._has_line_or_is_over.clear()
        for request_id in self._in_flight:
            self.take_result(request_id, None)

    def end(self) -> None:
        """Ends every request: there will be no other line."""
        self._is_over = True
        self.end_line()
        self._has_line_or_is_over.set()

    @asynccontextmanager
    async def _place_for(self, frame: bytes) -> AsyncIterator[Line]:
        if self._is_over:
            raise OverError(_OVER)
        waiting_bytes = self._waiting_bytes + len(frame)
        if self._waiting >= limits.SENDS_WAITING_MAX or waiting_bytes > limits.SENDS_WAITING_BYTES_MAX:
            raise BusyError("nothing was sent: too many sends wait already")
        self._waiting, self._waiting_bytes = self._waiting + 1, waiting_bytes
        async with AsyncExitStack() as place:
            try:
                async with asyncio.timeout(limits.LINE_WAIT):
                    await place.enter_async_context(self._places)
                    while self._line is None and not self._is_over:
                        await self._has_line_or_is_over.wait()
            except TimeoutError:
                if self._line is None:
                    raise NoLineError("nothing was sent: there was no line; retry later") from None
                raise BusyError("nothing was sent: too many sends are in progress") from None
            finally:
                self._waiting, self._waiting_bytes = self._waiting - 1, self._waiting_bytes - len(frame)
            if self._line is None:
                raise OverError(_OVER)
            yield self._line
