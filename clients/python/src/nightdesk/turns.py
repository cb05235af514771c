"""Entries in progress: the order of their turns, and the memory of those that were handled."""

import asyncio
import contextlib
import logging
import traceback
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self, TypeVar

from nightdesk import limits
from nightdesk.actions import Receipt, Sender
from nightdesk.errors import LineError
from nightdesk.message import Message
from nightdesk.wire import Json

T = TypeVar("T")
log = logging.getLogger("nightdesk")


class Turn(Message):
    """A message, while an agent handles it."""

    def __init__(self, frame: Json) -> None:
        super().__init__(frame)
        self._stop = asyncio.Event()
        self._scope = asyncio.timeout(None)

    @property
    def is_stopped(self) -> bool:
        """True if a person or another gateway asked to stop this turn."""
        return self._stop.is_set()

    async def stopped(self) -> None:
        """Waits until the turn is to stop. The turn decides what to do then."""
        await self._stop.wait()

    def stop(self) -> None:
        """Asks the turn to stop, and cancels its handler if that was chosen."""
        self._stop.set()
        # A handler that is over, or not to be cancelled, has no scope to end.
        with contextlib.suppress(RuntimeError):
            self._scope.reschedule(0)

    async def run(self, handler: Callable[[Self], Awaitable[T]], *, cancel_on_stop: bool) -> T | None:
        """Calls a handler. With `cancel_on_stop` a stop cancels it, and the result is None."""
        if not cancel_on_stop:
            return await handler(self)
        try:
            async with self._scope:
                return await handler(self)
        except TimeoutError:
            if not self._scope.expired():
                raise
            return None


class Entry(Turn):
    """An entry of the line, and its turn.

    The turn ends with the body of `async with`. After a clean end the entry is acknowledged and
    never comes again; after an exception it comes again on the next line. `desk.entries()` and
    `desk.run()` do this for you.
    """

    def __init__(self, frame: Json, desk: Sender, turns: "Turns") -> None:
        super().__init__(frame)
        self.desk = desk
        self._turns = turns
        self._is_over = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        is_over, self._is_over = self._is_over, True
        try:
            if kind is None and not is_over:
                await self.ack()
        finally:
            self._turns.end(self)

    async def ack(self) -> None:
        """Acknowledges the entry before its turn ends, for a turn of more than half a minute.

        From here on the agent is responsible: the entry does not come again, even if the turn
        fails or the process dies.
        """
        await self._turns.mark_handled(self)

    async def reply(self, content: str) -> Receipt:
        """Answers where the message was written."""
        return await self.desk.send(self.place, content, reply_to=self.message_id)


class Turns:
    """The entries of an agent over all its lines.

    Entries of one session have their turns in order, one at a time. An entry has one turn,
    unless its turn failed. An ack goes out only on a line that delivered the entry.
    """

    def __init__(self, desk: Sender, write: Callable[[Json], Awaitable[None]], record_work: Callable[[], None]) -> None:
        self._desk = desk
        self._write = write
        self._record_work = record_work
        self._waiting: deque[Entry] = deque()
        self._running: dict[str, Entry] = {}
        # The ids of handled entries, oldest first.
        self._handled: dict[str, None] = {}
        # Entries that the current line delivered and that were not acknowledged on it.
        self.given: set[str] = set()
        self._changed = asyncio.Event()
        self._is_over = False

    @property
    def is_settled(self) -> bool:
        """True if no entry waits and no turn runs."""
        return not self._waiting and not self._running

    async def take(self, frame: Json) -> None:
        """Takes an entry of the line. One that was handled before is only acknowledged."""
        entry = Entry(frame, self._desk, self)
        if entry.id is not None:
            self.given.add(entry.id)
            if entry.id in self._handled:
                return await self._ack(entry.id)
            if any(entry.id == held.id for held in (*self._waiting, *self._running.values())):
                return None
        if len(self._waiting) >= limits.ENTRIES_WAITING_MAX:
            raise LineError("the desk delivered more entries than its window allows")
        self._waiting.append(entry)
        self._changed.set()
        return None

    async def next_turn(self) -> Entry | None:
        """Waits for an entry whose turn may begin. None: the agent is over."""
        while not self._is_over:
            if entry := self._begin():
                return entry
            self._changed.clear()
            await self._changed.wait()
        return None

    async def mark_handled(self, entry: Entry) -> None:
        """Acknowledges an entry: from here on it never gets a turn again."""
        if entry.id is not None:
            self._handled[entry.id] = None
            if len(self._handled) > limits.HANDLED_KEPT_MAX:
                del self._handled[next(iter(self._handled))]
            await self._ack(entry.id)

    def end(self, entry: Entry) -> None:
        """Ends a turn."""
        if self._running.get(entry.session_key) is entry:
            del self._running[entry.session_key]
            self._changed.set()
            self._record_work()

    def stop(self, session_key: str) -> bool:
        """Stops the turn of exactly this session. Returns false if there is none."""
        if entry := self._running.get(session_key):
            entry.stop()
        return entry is not None

    def end_line(self) -> None:
        """Forgets the line's entries that wait: they come again, here or in another process."""
        self.given.clear()
        self._waiting = deque(entry for entry in self._waiting if entry.id is None)

    def close(self) -> None:
        """Begins no further turn."""
        self._is_over = True
        self._changed.set()

    def _begin(self) -> Entry | None:
        if len(self._running) >= limits.TURNS_MAX:
            return None
        for entry in self._waiting:
            if entry.session_key not in self._running:
                self._waiting.remove(entry)
                self._running[entry.session_key] = entry
                return entry
        return None

    async def _ack(self, entry_id: str) -> None:
        if entry_id in self.given:
            self.given.remove(entry_id)
            self._record_work()
            await self._write({"type": "inbound_ack", "bufferId": entry_id})


def log_failed_turn(error: Exception) -> None:
    """Logs a failure without its text, which may quote a message."""
    place = "".join(traceback.format_tb(error.__traceback__))
    log.warning("a turn failed, its entry may come again: %s\n%s", type(error).__name__, place)
