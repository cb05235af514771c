"""HTTP calls to the desk besides the line, each with a timeout and a bound on its response."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, TypeVar

import httpx

from nightdesk import limits
from nightdesk.errors import CallRefusedError, UnansweredError, UnreadableError, read_retry_after
from nightdesk.login import Login, read_address
from nightdesk.wire import Json, decode, parse, read_text

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Response:
    """The desk's response to a call."""

    what: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def refusal(self) -> CallRefusedError:
        """Returns the error of a response that is no success."""
        problem = decode(self.body) or {}
        code, detail = (read_text(problem, name) or "" for name in ("code", "detail"))
        retry_after = read_retry_after(self.headers.get("Retry-After"))
        return CallRefusedError(self.what, self.status, code, detail, retry_after)

    @property
    def is_success(self) -> bool:
        """True if the desk did what the call asked for."""
        return 200 <= self.status < 300

    def read(self, kind: type[T]) -> T:
        """Returns the JSON of a success, or raises the error."""
        if not self.is_success:
            raise self.refusal()
        value = parse(self.body)
        if not isinstance(value, kind):
            raise UnreadableError(f"could not {self.what}: the response cannot be read")
        return value


class DeskClient:
    """Calls a desk with a login. `async with` closes its connections."""

    def __init__(self, url: str, login: Login | None = None, *, tls: ssl.SSLContext | None = None) -> None:
        self._login = login
        # A response has a bound, so it is not compressed. A token goes to no redirect and no proxy.
        headers = {"User-Agent": limits.USER_AGENT, "Accept-Encoding": "identity"}
        self._client = httpx.AsyncClient(
            base_url=read_address(url), headers=headers, verify=tls or True, trust_env=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def request(
        self, what: str, method: str, path: str, body: Json | None = None, *, wait: float = limits.CALL_WAIT
    ) -> Response:
        """Makes one call. Nothing is repeated."""
        headers = {"Authorization": self._login.authorization()} if self._login is not None else {}
        content = bytearray()
        if self._client.is_closed:
            raise UnansweredError(f"could not {what}: the client is closed")
        try:
            async with (
                asyncio.timeout(wait),
                self._client.stream(method, path, json=body, headers=headers, timeout=wait) as response,
            ):
                async for chunk in response.aiter_raw():
                    content += chunk
                    if len(content) > limits.ANSWER_BYTES_MAX:
                        raise UnreadableError(f"could not {what}: the response is too long")
        except (httpx.HTTPError, TimeoutError):
            raise UnansweredError(f"could not {what}: the desk did not respond") from None
        return Response(what, response.status_code, response.headers, bytes(content))
