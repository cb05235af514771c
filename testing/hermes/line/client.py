"""The client under test: the stock transport and adapter, in a separate process.

It writes its observations to stdout, one JSON object per line, and reads commands from stdin in the same form. The
stock classes do the work. The subclasses here only record the traffic, and interfere where a scenario needs it: a
handler that blocks or raises, acks that are held back.

usage: python -m line.client OPTIONS, where OPTIONS is the JSON of `line.remote.Options`.
"""

import asyncio
import json
import os
import sys
import time
from typing import Any

from gateway.config import PlatformConfig
from gateway.relay.adapter import RelayAdapter
from gateway.relay.descriptor import CapabilityDescriptor
from gateway.relay.ws_transport import WebSocketRelayTransport

COMMAND_BYTES_MAX = 4 * 1024 * 1024
TEXT_SHOWN_CHARS = 80

# The handshake replaces it with the desk's own.
NO_DESCRIPTOR = CapabilityDescriptor(1, "none", "none", 4096, False, False, False, "plain", "chars")


class Log:
    """Records events with their times."""

    def __init__(self) -> None:
        # The library may print to stdout; its output must not mix with the records.
        self._out = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)
        self.dials = 0

    def __call__(self, kind: str, **what: Any) -> None:
        record = {"at": time.monotonic(), "kind": kind, **what}
        self._out.write(json.dumps(record) + "\n")


class Obstacles:
    """The obstacles for a delivered message."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.free = asyncio.Event()
        self.hold(options["hold"])
        self.slow_secs: float = options["slow_secs"]
        self.raise_on: str = options["raise_on"]
        self.keep_acks: bool = options["keep_acks"]
        self.kept_acks: list[str] = []

    def hold(self, on: bool) -> None:
        """Blocks the handler, or releases it."""
        self.free.clear() if on else self.free.set()

    async def pass_by(self, message: str | None) -> None:
        """Delays the message, and raises if the options say so."""
        if message == self.raise_on:
            raise RuntimeError(f"the handler does not like {message}")
        slow_secs, self.slow_secs = self.slow_secs, 0
        await asyncio.sleep(slow_secs)
        await self.free.wait()


class Transport(WebSocketRelayTransport):
    """The stock transport with a record of its traffic. Lines are numbered by dials, over all transports."""

    def __init__(self, log: Log, obstacles: Obstacles, options: dict[str, Any]) -> None:
        super().__init__(
            options["url"],
            options["platform"],
            options["bot"],
            gateway_id=options["gateway"],
            upgrade_secret=options["secret"],
            reconnect=options["reconnect"],
            reconnect_backoff_s=options["backoff_secs"],
            reconnect_max_backoff_s=options["backoff_secs_max"],
        )
        self._log = log
        self._obstacles = obstacles
        self._watches: set[asyncio.Task[None]] = set()

    async def _dial_and_start(self) -> None:
        self._log.dials += 1
        self._log("dial", line=self._log.dials)
        try:
            await super()._dial_and_start()
        except Exception as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            self._log("refused", line=self._log.dials, status=status, error=repr(error))
            raise

    async def _read_loop(self) -> None:
        line = self._log.dials
        self._log("open", line=line)
        watch = asyncio.create_task(self._watch(self._ws, line))
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)
        await super()._read_loop()

    async def _watch(self, ws: Any, line: int) -> None:
        # A reader that dies leaves its socket open; this records the socket's end.
        await ws.wait_closed()
        self._log("closed", line=line, code=ws.close_code, reason=ws.close_reason)

    async def _handle_frame(self, line: str) -> None:
        frame = json.loads(line)
        self._log("frame", line=self._log.dials, size=len(line), **summary(frame))
        await super()._handle_frame(line)

    async def _send(self, frame: dict[str, Any]) -> None:
        await super()._send(frame)
        self._log("sent", line=self._log.dials, type=frame["type"], buffer=frame.get("bufferId"))

    async def _send_inbound_ack(self, buffer_id: str) -> None:
        if self._obstacles.keep_acks:
            self._obstacles.kept_acks.append(buffer_id)
        else:
            await super()._send_inbound_ack(buffer_id)

    async def give_acks(self) -> None:
        """Sends the acks that were held back, and holds back none from now on."""
        self._obstacles.keep_acks = False
        while self._obstacles.kept_acks:
            await super()._send_inbound_ack(self._obstacles.kept_acks.pop(0))

    def use_secret(self, secret: str) -> None:
        """Dials with another secret from now on."""
        self._upgrade_secret = secret

    def drop(self) -> None:
        """Cuts the socket without a close frame."""
        self._ws.transport.abort()

    async def close(self) -> None:
        """Closes the socket with a close frame, and without going idle."""
        await self._ws.close()


class Adapter(RelayAdapter):
    """The stock adapter with a record of its traffic."""

    def __init__(self, log: Log, obstacles: Obstacles, transport: Transport) -> None:
        super().__init__(PlatformConfig(enabled=True), NO_DESCRIPTOR, transport=transport)
        self._log = log
        self._obstacles = obstacles
        self.set_message_handler(self._take)

    async def _on_inbound(self, event: Any) -> None:
        self._log("handed", **seen(event))
        await self._obstacles.pass_by(event.message_id)
        await super()._on_inbound(event)

    async def _take(self, event: Any) -> None:
        self._log("took", **seen(event))

    async def on_interrupt(self, session_key: str, chat_id: str) -> None:
        self._log("interrupt", session_key=session_key, chat=chat_id)
        await super().on_interrupt(session_key, chat_id)


def summary(frame: dict[str, Any]) -> dict[str, Any]:
    """Returns the relevant fields of a frame from the desk."""
    event = frame.get("event") or {}
    forward = frame.get("forward") or {}
    return {
        "type": frame.get("type"),
        "buffer": frame.get("bufferId"),
        "message": event.get("message_id"),
        "source": event.get("source"),
        "forward": {key: forward.get(key) for key in ("platform", "botId", "bodyB64")},
        "result": frame.get("result"),
    }


def seen(event: Any) -> dict[str, Any]:
    """Returns the client's view of an event."""
    return {
        "message": event.message_id,
        "text": event.text[:TEXT_SHOWN_CHARS],
        "chat": event.source.chat_id,
        "platform": event.source.platform.value,
    }


class Client:
    """One transport and one adapter at a time, and the commands for them."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._log = Log()
        self._obstacles = Obstacles(options)
        self._transport: Transport
        self._adapter: Adapter

    async def connect(self) -> dict[str, Any]:
        """Dials in as a gateway that starts: with a new transport and a new adapter."""
        self._transport = Transport(self._log, self._obstacles, self._options)
        self._adapter = Adapter(self._log, self._obstacles, self._transport)
        return {"ok": await self._adapter.connect()}

    async def disconnect(self) -> None:
        """Goes idle and closes the line."""
        await self._adapter.disconnect()

    async def close(self) -> None:
        """Closes the line without going idle."""
        await self._transport.close()

    async def drop(self) -> None:
        """Cuts the socket."""
        self._transport.drop()

    async def hold(self, on: bool) -> None:
        """Blocks the handler, or releases it."""
        self._obstacles.hold(on)

    async def keep_acks(self) -> None:
        """Holds acks back from now on."""
        self._obstacles.keep_acks = True

    async def give_acks(self) -> None:
        """Sends the acks that were held back."""
        await self._transport.give_acks()

    async def forget_acks(self) -> None:
        """Discards the acks that were held back, and holds back none from now on."""
        self._obstacles.keep_acks = False
        self._obstacles.kept_acks.clear()

    async def use_secret(self, secret: str) -> None:
        """Dials with another secret from now on."""
        self._transport.use_secret(secret)

    async def send(self, chat: str, content: str, reply_to: str | None) -> dict[str, Any]:
        """Sends a message to a chat."""
        result = await self._adapter.send(chat, content, reply_to)
        return {"success": result.success, "message_id": result.message_id, "error": result.error}

    async def chat_info(self, chat: str) -> dict[str, Any]:
        """Requests the information about a chat."""
        return await self._adapter.get_chat_info(chat)

    async def interrupt(self, session_key: str) -> None:
        """Requests to stop a turn."""
        await self._transport.send_interrupt(session_key, "stop")

    async def state(self) -> dict[str, Any]:
        """Returns the client's own view of its state."""
        return {
            "revoked": self._transport.auth_revoked,
            "fatal": self._adapter.fatal_error_code,
            "retryable": self._adapter.fatal_error_retryable,
        }

    async def obey(self, command: dict[str, Any]) -> None:
        """Executes a command and records the result."""
        number, name = command.pop("number"), command.pop("do")
        try:
            answer = await getattr(self, name)(**command)
            self._log("answer", number=number, answer=answer or {})
        except Exception as error:
            self._log("answer", number=number, answer={"ok": False, "error": repr(error)})


async def main() -> None:
    """Executes commands until stdin ends."""
    client = Client(json.loads(sys.argv[1]))
    commands = asyncio.StreamReader(limit=COMMAND_BYTES_MAX)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    running: set[asyncio.Task[None]] = set()
    while line := await commands.readline():
        task = asyncio.create_task(client.obey(json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
