"""The little of ASGI that the handlers share."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from nightdesk import limits

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"


class HttpApp(ABC):
    """An ASGI application that answers HTTP requests."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection."""
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
        elif scope["type"] == "http":
            reply = await self._respond(scope, receive)
            headers = [(b"content-type", reply.content_type.encode())] if reply.body else []
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            await send({"type": "http.response.body", "body": reply.body})

    @abstractmethod
    async def _respond(self, scope: Scope, receive: Receive) -> Reply:
        """Answers a request."""


async def read_body(receive: Receive) -> bytes | None:
    """Returns the body of a request. None: it is too long, too slow or incomplete."""
    body = bytearray()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limits.BODY_WAIT):
            while (message := await receive())["type"] == "http.request":
                body += message.get("body", b"")
                if len(body) > limits.POST_BYTES_MAX:
                    return None
                if not message.get("more_body"):
                    return bytes(body)
    return None
