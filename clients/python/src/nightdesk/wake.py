"""Receives the desk's wake calls for a sleeping agent."""

import asyncio
import hmac
import re
from time import monotonic

from nightdesk import limits
from nightdesk.asgi import HttpApp, Receive, Reply, Scope
from nightdesk.turns import log


class WakeListener(HttpApp):
    """An ASGI application for `GET /wake/<secret>`: 204 at once, and 404 for everything else.

    Calls that come together are one wake, and a call that comes while no task waits is stored
    until one does. The desk calls unsigned, so the secret in the path is the proof.
    """

    def __init__(self, secret: str) -> None:
        """Takes the secret of the calls: 16 to 128 letters, digits, `-` and `_`."""
        low, high = limits.WAKE_SECRET_CHARS
        if not re.fullmatch(rf"[A-Za-z0-9_-]{{{low},{high}}}", secret):
            raise ValueError(f"the secret of a wake call has {low} to {high} letters, digits, -, _")
        self._path = f"/wake/{secret}".encode()
        self._called = asyncio.Event()
        self._woken_at = float("-inf")

    async def woken(self) -> None:
        """Waits for a wake."""
        await self._called.wait()
        self._called.clear()
        self._woken_at = monotonic()

    async def _respond(self, scope: Scope, _receive: Receive) -> Reply:
        path = scope["path"].removeprefix(scope.get("root_path", "")).encode()
        if scope["method"] != "GET" or not hmac.compare_digest(path, self._path):
            return Reply(404)
        # A call directly after a wake belongs to it.
        if monotonic() - self._woken_at >= limits.SAME_WAKE:
            log.info("the agent was called")
            self._called.set()
        return Reply(204)
