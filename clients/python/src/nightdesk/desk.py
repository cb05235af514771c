"""An agent at its desk: the lines, one after the other, and the entries and sends over all of them."""

import asyncio
import contextlib
import os
import signal
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from enum import Enum
from time import monotonic
from typing import Any, Self

from nightdesk import limits
from nightdesk.actions import Receipt, Sender, build_action, read_receipt
from nightdesk.backoff import Backoff
from nightdesk.errors import DONE, RESTARTING, REVOKED, LineError, NoLineError, RevokedError
from nightdesk.line import Line
from nightdesk.login import Login, read_address, relay_url
from nightdesk.message import Descriptor, Place
from nightdesk.sends import Sends
from nightdesk.turns import Entry, Turns, log, log_failed_turn
from nightdesk.websocket import dial
from nightdesk.wire import Json, encode, read_object, read_text

Handler = Callable[[Entry], Awaitable[object]]
_NEVER = float("inf")


class End(Enum):
    """The end of an agent."""

    DISCONNECTED = "it disconnected"
    IDLE = "it went idle: the desk confirmed it, and every turn ended"
    IDLE_CUT_SHORT = "it went idle, but a turn was still running or the desk did not answer"
    ASLEEP = "it fell asleep; connect again to wake up"
    REVOKED = "the gateway was revoked"


class Desk(Sender):
    """A desk, as an agent sees it.

    `async with` connects and disconnects. Meanwhile a line is dialled, maintained and dialled again, until the agent
    is over: then `end` is set. `trouble` is the last reason that there was no line, and `descriptors` are those of
    the bots, in order.
    """

    def __init__(
        self,
        url: str,
        gateway: str,
        secret: str,
        *,
        bots: tuple[tuple[str, str], ...] = (),
        sleep_after: float | None = None,
        tls: ssl.SSLContext | None = None,
        login: Login | None = None,
    ) -> None:
        """Takes the desk's URL, and the name and secret of a gateway.

        `bots` are pairs of platform and the platform's id of the bot, by default all bots of the agent. With
        `sleep_after` the agent falls asleep after so many seconds of quiet. `login` replaces the name and secret.
        """
        low, high = limits.SLEEP_AFTER_MIN, limits.SLEEP_AFTER_MAX
        if sleep_after is not None and not low <= sleep_after <= high:
            raise ValueError(f"an agent sleeps after {low:.0f} to {high:.0f} s of quiet")
        if len(bots) > limits.HELLOS_MAX:
            raise ValueError(f"a line speaks for at most {limits.HELLOS_MAX} bots; use several gateways")
        self.end: End | None = None
        self.trouble: str | None = None
        self.descriptors: list[Descriptor] = []
        self._address, self._tls = read_address(url), tls
        self._login = login or Login.gateway(gateway, secret)
        self._bots = bots or (("relay", ""),)
        self._sleep_after = sleep_after
        self._turns = Turns(self, self._write, self._record_work)
        self._sends = Sends()
        self._line: Line | None = None
        self._live_or_over, self._over = asyncio.Event(), asyncio.Event()
        self._is_leaving = self._is_cancelled = False
        self._busy = 0
        self._worked_at = monotonic()
        self._server: asyncio.Task[None] | None = None
        # Goes idle after a signal.
        self._leaver: asyncio.Task[bool] | None = None
        self._signals: list[signal.Signals] = []

    @classmethod
    def from_env(cls, **options: Any) -> Self:
        """Reads NIGHTDESK_URL, NIGHTDESK_GATEWAY and NIGHTDESK_SECRET."""
        names = ("NIGHTDESK_URL", "NIGHTDESK_GATEWAY", "NIGHTDESK_SECRET")
        if missing := [name for name in names if not os.environ.get(name)]:
            raise ValueError(f"set {' and '.join(missing)}")
        return cls(*(os.environ[name] for name in names), **options)

    async def __aenter__(self) -> Self:
        if self._server is not None:
            raise RuntimeError("an agent connects once; make another one")
        self._server = asyncio.create_task(self._serve(), name="nightdesk")
        # A fault of the SDK ends the agent, and must not leave its callers waiting.
        self._server.add_done_callback(lambda _: self._finish(End.DISCONNECTED))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.disconnect()

    async def entries(self) -> AsyncGenerator[Entry, None]:
        """Yields entries, one at a time, until the agent is over.

        The entry is acknowledged when the loop's body ended well, so when the loop asks for the next one; not after an
        exception or a `break`. Several loops at once share the work.
        """
        while (entry := await self._turns.next_turn()) is not None:
            async with entry:
                yield entry
        self._raise_if_revoked()

    async def run(self, handler: Handler, *, cancel_on_stop: bool = False) -> End:
        """Connects and calls a handler for each entry, until the agent is over.

        Up to twelve sessions at once have a turn, each of them one at a time. An exception is logged without its text,
        and the entry comes again on the next line. SIGTERM and SIGINT make the agent go idle. With `cancel_on_stop` a
        stop cancels the handler, and the entry is acknowledged.
        """
        async with self, asyncio.TaskGroup() as group:
            self.idle_on_signals()
            work = (self._work(handler, cancel_on_stop=cancel_on_stop) for _ in range(limits.TURNS_MAX))
            workers = [group.create_task(one) for one in work]
            await self._over.wait()
            for worker in workers:
                worker.cancel()
        return await self.ended()

    async def ended(self) -> End:
        """Waits until the agent is over, and returns its end."""
        await self._over.wait()
        self._raise_if_revoked()
        return self.end or End.DISCONNECTED

    @property
    def is_live(self) -> bool:
        """True if there is a line, and the desk answered every hello."""
        return self._line is not None and len(self._line.descriptors) >= len(self._bots)

    async def handshake(self) -> list[Descriptor]:
        """Waits for a line, and returns the descriptors of the bots."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._live_or_over.wait(), limits.GREET_WAIT)
        self._raise_if_revoked()
        if not self.is_live:
            raise NoLineError(f"no line: {self.trouble or 'the desk did not answer'}")
        return self.descriptors

    async def act(self, op: str, place: Place, *, request_id: str | None = None, **fields: object) -> Receipt:
        """Performs any op, at most once."""
        request_id = request_id or self._sends.next_id()
        bot = place.bot or next((bot for platform, bot in self._bots if platform == place.platform), None)
        routing = {name: value for name, value in (("platform", place.platform), ("botId", bot)) if value}
        frame = {"type": "outbound", "requestId": request_id, **routing, "action": build_action(op, place, fields)}
        with self.busy():
            return read_receipt(await self._sends.request(request_id, encode(frame)), request_id)

    async def interrupt(self, session_key: str, reason: str | None = None) -> None:
        """Stops the turn of a session of this agent, on any of its lines. It has no result."""
        await self._sends.say(encode({"type": "interrupt", "session_key": session_key, "reason": reason}))

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Keeps the agent awake, for work of its own. Turns and sends need no guard."""
        self._busy += 1
        self._record_work()
        try:
            yield
        finally:
            self._busy -= 1
            self._record_work()

    async def go_idle(self) -> bool:
        """Tells the desk that the agent sleeps, lets every turn end, and disconnects.

        Takes ten seconds at most. Returns false if a turn was still running then.
        """
        self._is_leaving = True
        if self._line is not None:
            self._line.stir()
            await self._over.wait()
        else:
            # Without a line the desk already knows.
            self._finish(End.IDLE if self._turns.is_settled else End.IDLE_CUT_SHORT)
            self._cancel_server()
        return self.end is End.IDLE

    def idle_on_signals(self, *signals: signal.Signals) -> None:
        """Goes idle at the first SIGTERM or SIGINT. A second one has its usual effect."""
        # Only the main thread of a Unix process has signals.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            for each in signals or (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(each, self._leave)
                self._signals.append(each)

    async def disconnect(self) -> None:
        """Closes the line at once. Entries that were not acknowledged come again."""
        self._finish(End.DISCONNECTED)
        self._restore_signals()
        self._cancel_server()
        if self._leaver is not None:
            await self._leaver
        if self._server is not None:
            await asyncio.wait([self._server])
            if not self._server.cancelled():
                self._server.result()

    async def _dial(self) -> Line:
        return await dial(relay_url(self._address), self._login.authorization(), self._tls)

    async def _serve(self) -> None:
        """Maintains the line until the agent is over."""
        backoff = Backoff()
        while self.end is None:
            try:
                line = await self._dial()
                trouble = await self._use(line)
                backoff.record_line(monotonic() - line.opened_at)
            except LineError as error:
                trouble = error
            if trouble is not None:
                await self._rest(trouble, backoff)

    async def _rest(self, trouble: LineError, backoff: Backoff) -> None:
        self.trouble = str(trouble)
        # After a restart all agents dial. One revocation may be a mistake, such as during a rotation of the secret.
        spread = limits.RESTART_SPREAD if trouble.code == RESTARTING else 0.0
        delay = max(backoff.next_delay(spread), trouble.retry_after) if trouble.code != REVOKED else 0.0
        if trouble.code == REVOKED and backoff.count_revocation():
            self._finish(End.REVOKED)
        if self._is_leaving:
            self._finish(End.IDLE_CUT_SHORT)
        if self.end is None:
            log.warning("no line to the desk: %s; dialling again in %.1f s", trouble, delay)
            await asyncio.sleep(delay)

    async def _use(self, line: Line) -> LineError | None:
        """Uses a line until it ends. None: the agent is over."""
        self._line, code = line, DONE
        try:
            for platform, bot in self._bots:
                # The client says that it loses no entry while it starts, so the desk holds none back.
                hello = {"type": "hello", "platform": platform, "botId": bot, "client": limits.CLIENT}
                await line.write(encode(hello))
            while (end := await self._idle_end(line)) is None:
                await line.ping()
                for frame in await line.receive(self._next_step_at(line)):
                    await self._take(line, frame)
        except LineError as error:
            code = error.close_with
            return error
        finally:
            self._line = None
            self._sends.end_line()
            self._turns.end_line()
            if self.end is None:
                self._live_or_over.clear()
            await line.close(code)
        self._finish(end)
        return None

    async def _take(self, line: Line, frame: Json) -> None:
        kind = frame.get("type")
        if kind == "going_idle_ack":
            line.is_idle_acked = True
            return
        if kind == "descriptor":
            line.descriptors.append(Descriptor.read(read_object(frame, "descriptor")))
            if len(line.descriptors) == len(self._bots):
                self.descriptors = line.descriptors
                self._sends.begin_line(line)
                self._live_or_over.set()
        elif kind in ("inbound", "passthrough_forward"):
            await self._turns.take(frame)
        elif kind == "outbound_result":
            self._sends.take_result(read_text(frame, "requestId"), read_object(frame, "result") or None)
        elif kind == "interrupt_inbound":
            stopped = self._turns.stop(read_text(frame, "session_key") or "")
            if stop_id := read_text(frame, "stop_id"):
                await self._write({"type": "interrupt_result", "stop_id": stop_id, "stopped": stopped})
        else:
            # A frame of a newer contract. It is no work, or a lively line would keep the agent awake.
            return
        self._record_work()

    async def _idle_end(self, line: Line) -> End | None:
        """Says that the agent goes idle, if it does. Returns its end once it may disconnect."""
        now = monotonic()
        if line.idle_until is None:
            if not self._is_leaving and now < self._sleep_at(line):
                return None
            line.idle_until = now + limits.IDLE_WAIT
            await line.write(encode({"type": "going_idle"}))
        is_settled = line.is_idle_acked and self._turns.is_settled
        if not is_settled and now < line.idle_until:
            return None
        if not self._is_leaving:
            return End.ASLEEP
        return End.IDLE if is_settled else End.IDLE_CUT_SHORT

    def _sleep_at(self, line: Line) -> float:
        """Returns the time to fall asleep: never without a live line or with work in hand."""
        has_work = self._busy or self._turns.given or not self._turns.is_settled
        may_sleep = self.is_live and line.idle_until is None and not has_work
        return self._worked_at + self._sleep_after if self._sleep_after is not None and may_sleep else _NEVER

    def _next_step_at(self, line: Line) -> float:
        greeted_by = _NEVER if self.is_live else line.opened_at + limits.GREET_WAIT
        if monotonic() >= greeted_by:
            raise LineError("the desk did not answer every hello; is it a Nightdesk?")
        return min(greeted_by, line.idle_until or _NEVER, self._sleep_at(line))

    def _record_work(self) -> None:
        """Work keeps a quiet agent awake, also after it said that it goes idle."""
        self._worked_at = monotonic()
        if self._line is not None:
            if not self._is_leaving:
                self._line.idle_until, self._line.is_idle_acked = None, False
            self._line.stir()

    async def _write(self, frame: Json) -> None:
        if self._line is not None:
            await self._line.write(encode(frame))

    def _finish(self, end: End) -> None:
        """Ends the agent. The first end counts."""
        if self.end is None:
            self.end = end
            self._turns.close()
            self._sends.end()
            self._live_or_over.set()
            self._over.set()

    def _raise_if_revoked(self) -> None:
        if self.end is End.REVOKED:
            raise RevokedError("the desk revoked this gateway; get a new secret and connect again")

    def _cancel_server(self) -> None:
        """Cancels the server once: a second time would interrupt the close of its line."""
        if self._server is not None and not self._is_cancelled:
            self._is_cancelled = True
            self._server.cancel()

    def _leave(self) -> None:
        self._restore_signals()
        self._leaver = asyncio.create_task(self.go_idle())

    def _restore_signals(self) -> None:
        while self._signals:
            asyncio.get_running_loop().remove_signal_handler(self._signals.pop())

    async def _work(self, handler: Handler, *, cancel_on_stop: bool) -> None:
        while (entry := await self._turns.next_turn()) is not None:
            try:
                async with entry:
                    await entry.run(handler, cancel_on_stop=cancel_on_stop)
            except Exception as error:  # noqa: BLE001 - a handler may fail in any way
                log_failed_turn(error)
