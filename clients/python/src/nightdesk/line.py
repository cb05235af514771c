"""One line, over any transport: its frames in both directions, and its state."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from time import monotonic

from nightdesk import limits
from nightdesk.errors import LineError
from nightdesk.message import Descriptor
from nightdesk.wire import Json


class Line(ABC):
    """An open line."""

    def __init__(self) -> None:
        self.opened_at = self.alive_at = monotonic()
        self.descriptors: list[Descriptor] = []
        # Set while the line goes idle.
        self.idle_until: float | None = None
        self.is_idle_acked = False
        self._receiving: asyncio.Timeout | None = None
        self._is_stirred = False

    @abstractmethod
    async def write(self, frame: bytes) -> None:
        """Writes a frame. On a line that ends, the frame is lost."""

    async def ping(self) -> None:  # noqa: B027 - a line may need none
        """Pings the desk if it is time, where its answers to calls are not the sign of life."""

    @abstractmethod
    async def close(self, code: int) -> None:
        """Closes the line, and waits briefly until the desk has closed it too."""

    @abstractmethod
    async def _next_frames(self) -> list[Json]:
        """Waits for frames, or raises a `LineError`. May be cancelled while it waits."""

    async def receive(self, until: float) -> list[Json]:
        """Waits for frames. None come if it is that time, or if the state changed."""
        until, self._is_stirred = 0.0 if self._is_stirred else until, False
        until = min(until, self.alive_at + limits.DEAD_LINE)
        try:
            async with asyncio.timeout(max(0.0, until - monotonic())) as self._receiving:
                frames = await self._next_frames()
        except TimeoutError:
            # A pong may have come meanwhile.
            if monotonic() >= self.alive_at + limits.DEAD_LINE:
                raise LineError("the desk stopped responding") from None
            return []
        finally:
            self._receiving = None
        self.alive_at = monotonic()
        return frames

    def stir(self) -> None:
        """Ends the wait for frames, because the state changed."""
        self._is_stirred = True
        if self._receiving is not None:
            with contextlib.suppress(RuntimeError):
                self._receiving.reschedule(0)
