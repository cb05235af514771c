"""The line over HTTP, for agents that cannot hold a WebSocket open."""

import asyncio
import contextlib

from nightdesk import limits
from nightdesk.desk import Desk
from nightdesk.errors import DONE, REVOKED, CallError, LineError, read_retry_after
from nightdesk.http import DeskClient, Response
from nightdesk.line import Line
from nightdesk.wire import Json, decode, read_objects, read_text

_RETRIED = (429, 500, 502, 503, 504)


class PollingDesk(Desk):
    """A desk, as an agent sees it over polls. It has all that `Desk` has."""

    async def _dial(self) -> Line:
        return PollLine(DeskClient(self._address, self._login, tls=self._tls))


class PollLine(Line):
    """A line over HTTP. It translates frames of the WebSocket to calls, and responses to frames."""

    def __init__(self, client: DeskClient) -> None:
        super().__init__()
        self._client = client
        self._opening: Json = {"hellos": []}
        # The newest name of the line and of the position in it.
        self._name: str | None = None
        self._received: asyncio.Queue[list[Json] | LineError] = asyncio.Queue(limits.RECEIVED_MAX)
        # Acks that did not arrive yet: the desk does not repeat an entry on its line.
        self._acks: set[str] = set()
        self._acking = asyncio.Lock()
        self._taking: asyncio.Task[None] | None = None

    async def write(self, frame: bytes) -> None:
        """Makes the call of a frame."""
        fields = decode(frame) or {}
        kind = fields.pop("type")
        if kind == "hello":
            self._opening["client"] = fields.pop("client")
            self._opening["hellos"].append(fields)
        elif kind == "inbound_ack":
            self._acks.add(fields["bufferId"])
            await self._write_acks()
        elif kind == "outbound":
            result = await self._send(fields)
            await self._received.put([{"type": "outbound_result", "requestId": fields["requestId"], "result": result}])
        elif kind == "interrupt_result":
            with contextlib.suppress(CallError):
                await self._call("stopped", fields)
        elif kind == "going_idle":
            # The desk hears of it when the line closes.
            self.is_idle_acked = True

    async def ping(self) -> None:
        """Does nothing: a take is a sign of life for both sides."""

    async def close(self, code: int) -> None:
        """Ends the takes, and the line if the agent leaves."""
        if self._taking is not None:
            self._taking.cancel()
            await asyncio.gather(self._taking, return_exceptions=True)
        with contextlib.suppress(CallError):
            if code == DONE and self._name is not None:
                await self._call("idle", {}, limits.CLOSE_WAIT)
        await self._client.close()

    async def _next_frames(self) -> list[Json]:
        if self._taking is None:
            self._taking = asyncio.create_task(self._take_always(), name="nightdesk-takes")
        received = await self._received.get()
        if isinstance(received, LineError):
            raise received
        return received

    async def _take_always(self) -> None:
        try:
            while True:
                if (frames := await self._take()) is not None:
                    await self._received.put(frames)
        except LineError as error:
            await self._received.put(error)

    async def _take(self) -> list[Json] | None:
        """Takes frames once. None: the response was lost, or the desk has none now; the same name gets them again."""
        await self._write_acks()
        body, response = {"wait_seconds": limits.TAKE_WAIT, **({} if self._name else self._opening)}, None
        with contextlib.suppress(CallError):
            response = await self._call("take", body, limits.TAKE_WAIT + limits.CALL_WAIT)
        if response is None or response.status in _RETRIED:
            retry_after = read_retry_after(response.headers.get("Retry-After") if response is not None else None)
            await asyncio.sleep(max(limits.TAKE_AGAIN, retry_after))
            return None
        taken = decode(response.body) or {}
        if response.status != 200:
            code = REVOKED if response.status == 403 else taken.get("close_code")
            raise LineError(str(response.refusal()), code if isinstance(code, int) else None)
        self._name = read_text(taken, "line")
        descriptors = [{"type": "descriptor", "descriptor": one} for one in read_objects(taken, "descriptors")]
        return [*descriptors, *read_objects(taken, "frames")]

    async def _send(self, fields: Json) -> Json:
        """Returns the result of a send."""
        names = {"requestId": "request_id", "botId": "bot_id"}
        body = {names.get(name, name): value for name, value in fields.items()}
        try:
            response = await self._call("send", body, limits.RESULT_WAIT)
        except CallError:
            return {"success": False, "ambiguous": True}
        if response.status == 200:
            return decode(response.body) or {}
        return {"success": False, "ambiguous": response.status >= 500, "error": str(response.refusal())}

    async def _write_acks(self) -> None:
        async with self._acking:
            ids = sorted(self._acks)[: limits.ACKS_MAX]
            with contextlib.suppress(CallError):
                if ids and (await self._call("ack", {"buffer_ids": ids})).status == 200:
                    self._acks.difference_update(ids)

    async def _call(self, name: str, body: Json, wait: float = limits.CALL_WAIT) -> Response:
        named = {**body, "line": self._name} if self._name else body
        return await self._client.request(f"call the line ({name})", "POST", f"/v1/line/{name}", named, wait=wait)
