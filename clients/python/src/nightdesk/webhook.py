"""Entries that the desk posts: the signature, and an ASGI application around a function."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from nightdesk import limits
from nightdesk.asgi import HttpApp, Receive, Reply, Scope, read_body
from nightdesk.errors import BadSignatureError
from nightdesk.turns import Turn, log_failed_turn
from nightdesk.wire import Json, decode, read_text

# The agent acknowledges the entry within fifteen minutes, with `nightdesk.poll.PostedLine`.
LATER = Reply(202)

# A text is a reply to the entry. Actions are made with `nightdesk.build_action`; an object has both, as `text` and
# `actions`. Nothing acknowledges the entry without an answer.
Answer = str | Sequence[Json] | Json | Reply | None


def sign(secret: str, post_id: str, timestamp: int, body: bytes) -> str:
    """Returns the signature of a post (Standard Webhooks)."""
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    signed = f"{post_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def verify(secrets: Sequence[str], headers: Mapping[str, str], body: bytes, now: float | None = None) -> str:
    """Returns the id of a post that one of the secrets signed now, or raises an error.

    The names of the headers are in small letters.
    """
    post_id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not post_id or not timestamp.isascii() or not timestamp.isdecimal() or len(timestamp) > 15:
        raise BadSignatureError("the post is not signed")
    if abs((time.time() if now is None else now) - int(timestamp)) > limits.POST_AGE_MAX:
        raise BadSignatureError("the post is too old, or a clock is wrong")
    wanted = [sign(secret, post_id, int(timestamp), body).encode() for secret in secrets]
    shown = [signature.encode() for signature in signatures.split(" ")]
    if not any(hmac.compare_digest(one, other) for one in wanted for other in shown):
        raise BadSignatureError("no secret of this agent signed the post")
    return post_id


class WebhookApp(HttpApp):
    """An ASGI application that calls a function for each entry, and answers with its result.

    A post that comes again while its turn runs waits for the same result. The function runs again
    if the post comes again later; the desk sends the same answer once.
    """

    def __init__(
        self, handler: Callable[[Turn], Awaitable[Answer]], secret: str, *older: str, cancel_on_stop: bool = False
    ) -> None:
        """Takes the function and the secret (`whsec_…`), during a rotation also the older one.

        With `cancel_on_stop` a stop cancels the function, and the post has no answer.
        """
        self._handler = handler
        self._cancel_on_stop = cancel_on_stop
        self._secrets = (secret, *older)
        for each in self._secrets:
            sign(each, "", 0, b"")
        self._turns: dict[str, tuple[Turn, asyncio.Task[Reply]]] = {}

    async def _respond(self, scope: Scope, receive: Receive) -> Reply:
        if scope["method"] != "POST":
            return Reply(405)
        body = await read_body(receive)
        if body is None:
            return Reply(413)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            post_id = verify(self._secrets, headers, body)
        except BadSignatureError:
            return Reply(401)
        frame = decode(body) or {}
        if frame.get("type") == "interrupt_inbound":
            return _json_reply({"stopped": self._stop(frame)})
        if frame.get("type") not in ("inbound", "passthrough_forward"):
            # A frame of a newer contract.
            return Reply(204)
        return await self._take(post_id, frame)

    async def _take(self, post_id: str, frame: Json) -> Reply:
        if post_id not in self._turns:
            if len(self._turns) >= limits.POSTS_MAX:
                return Reply(503)
            turn = Turn(frame)
            task = asyncio.create_task(self._answer(turn))
            self._turns[post_id] = turn, task
            task.add_done_callback(lambda _: self._turns.pop(post_id))
        # A caller that hangs up does not end the turn: the post comes again.
        return await asyncio.shield(self._turns[post_id][1])

    async def _answer(self, turn: Turn) -> Reply:
        try:
            async with asyncio.timeout(limits.POST_TURN_WAIT):
                answer = await turn.run(self._handler, cancel_on_stop=self._cancel_on_stop)
        except Exception as error:  # noqa: BLE001 - a handler may fail in any way
            log_failed_turn(error)
            return Reply(500)
        if answer is None or isinstance(answer, Reply):
            return answer or Reply(204)
        if isinstance(answer, str):
            return Reply(200, answer.encode())
        return _json_reply(answer if isinstance(answer, dict) else {"actions": list(answer)})

    def _stop(self, frame: Json) -> bool:
        key = read_text(frame, "session_key")
        running = [turn for turn, _ in self._turns.values() if turn.session_key == key]
        for turn in running:
            turn.stop()
        return bool(running)


def _json_reply(value: Json) -> Reply:
    return Reply(200, json.dumps(value).encode(), "application/json")
