"""The line over HTTP, for agents that cannot hold a WebSocket open."""

import asyncio
import contextlib
import secrets

from nightdesk import limits
from nightdesk.actions import Receipt, Sender, build_action, read_receipt
from nightdesk.desk import Desk
from nightdesk.errors import DONE, REVOKED, CallError, LineError
from nightdesk.http import DeskClient, Response
from nightdesk.line import Line
from nightdesk.message import Place
from nightdesk.wire import Json, decode, read_objects, read_text


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
            names = {"line": self._name, "request_id": fields["requestId"], "bot_id": fields.get("botId")}
            result = await call_send(self._client, {**fields, **names})
            await self._received.put([{"type": "outbound_result", "requestId": fields["requestId"], "result": result}])
        elif kind == "interrupt_result":
            with contextlib.suppress(CallError):
                await self._call("stopped", fields)
        elif kind == "going_idle":
            # The desk hears of it when the line closes.
            self.is_idle_acked = True

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
        # The first take is to return the descriptors at once.
        body: Json = {"wait_seconds": limits.TAKE_WAIT} if self._name else {"wait_seconds": 0, **self._opening}
        response = None
        with contextlib.suppress(CallError):
            response = await self._call("take", body, limits.TAKE_WAIT + limits.CALL_WAIT)
        refusal = None if response is None or response.is_success else response.refusal()
        if response is None or (refusal and refusal.passes):
            await asyncio.sleep(max(limits.TAKE_AGAIN, refusal.retry_after if refusal else 0.0))
            return None
        if refusal:
            raise LineError(str(refusal), REVOKED if refusal.code == "gateway-revoked" else refusal.status)
        taken = decode(response.body) or {}
        self._name = read_text(taken, "line")
        return [*read_objects(taken, "descriptors"), *read_objects(taken, "frames")]

    async def _write_acks(self) -> None:
        async with self._acking:
            ids = sorted(self._acks)[: limits.ACKS_MAX]
            with contextlib.suppress(CallError):
                if ids and (await self._call("ack", {"buffer_ids": ids})).is_success:
                    self._acks.difference_update(ids)

    async def _call(self, name: str, body: Json, wait: float = limits.CALL_WAIT) -> Response:
        body = {**body, "line": self._name}
        return await self._client.request(f"call the line ({name})", "POST", f"/v1/line/{name}", body, wait=wait)


class PostedLine(DeskClient, Sender):
    """The line on which the desk posts to an agent: for acks after `LATER`, and for sends beside the answers."""

    async def act(self, op: str, place: Place, *, request_id: str | None = None, **fields: object) -> Receipt:
        """Performs any op, at most once."""
        request_id = request_id or secrets.token_hex(16)
        route = {"platform": place.platform, "bot_id": place.bot}
        body = {"request_id": request_id, **route, "action": build_action(op, place, fields)}
        return read_receipt(await call_send(self, body), request_id)

    async def ack(self, *ids: str) -> None:
        """Acknowledges entries that the agent took with `LATER`."""
        response = await self.request("acknowledge", "POST", "/v1/line/ack", {"buffer_ids": ids})
        if not response.is_success:
            raise response.refusal()


async def call_send(client: DeskClient, body: Json) -> Json | None:
    """Returns the result of a send over HTTP. None: no result came, and the line may have ended before or after it."""
    try:
        response = await client.request("send", "POST", "/v1/line/send", body, wait=limits.RESULT_WAIT)
    except CallError:
        return None
    if response.is_success or response.status == 410 or response.status >= 500:
        return decode(response.body) if response.is_success else None
    return {"success": False, "error": str(response.refusal())}
