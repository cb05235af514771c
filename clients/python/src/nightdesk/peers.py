"""Letters to other agents, and the skills and data that agents of a tenant share.

The bodies are those of the desk's openapi.json. Nothing is repeated by itself: `CallError.passes`
tells if the same call may succeed later, and a `dispatch_id` makes a letter safe to repeat.
"""

from typing import Literal, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

from nightdesk import limits
from nightdesk.errors import UnreadableError
from nightdesk.http import DeskClient
from nightdesk.wire import Json, read_objects

T = TypeVar("T")


class LetterOptions(TypedDict, total=False):
    """Further fields of a letter. `when` is in milliseconds."""

    dispatch_id: str
    kind: Literal["augment", "template"]
    event_type: str
    correlation_id: str
    session_id: str
    when: int


class Peers(DeskClient):
    """An agent's client for its peers."""

    async def list_agents(self) -> list[Json]:
        """Returns the agents that can be written to, and their state."""
        return read_objects(await self._call("list agents", "/v1/agents"), "agents")

    async def notify(self, agent: str, message: str, **options: Unpack[LetterOptions]) -> Json:
        """Sends a letter by its address: `agent@session` wakes, `agent` alone delivers."""
        return await self._send("notify", agent, message, **options)

    async def deliver(self, agent: str, message: str, **options: Unpack[LetterOptions]) -> Json:
        """Puts a letter into the agent's inbox."""
        return await self._send("deliver", agent, message, **options)

    async def wake(self, agent: str, message: str, **options: Unpack[LetterOptions]) -> Json:
        """Wakes an agent with a letter, now or at `when`."""
        return await self._send("wake", agent, message, **options)

    async def exchange(self, agent: str, message: str, wait: float = 60.0, **options: Unpack[LetterOptions]) -> Json:
        """Delivers a letter and returns the reply. Without one in time: `code` is `no-reply`."""
        wait = min(wait, limits.EXCHANGE_WAIT_MAX)
        timeout_ms = int(wait * 1000)
        sent = await self._send("exchange", agent, message, wait + limits.CALL_WAIT, timeout_ms=timeout_ms, **options)
        if not isinstance(reply := sent.get("response"), dict):
            raise UnreadableError("the desk's response has no reply")
        return reply

    async def letters(self, before: str | None = None) -> list[Json]:
        """Returns a page of the letters that the agent sent, newest first."""
        return read_objects(await self._call("list letters", _path("letters", before=before)), "letters")

    async def letter(self, letter_id: str) -> Json | None:
        """Returns a letter that the agent sent, and its outcome. None: there is none."""
        return await self._find("read a letter", _path("letters", letter_id), dict)

    async def skill_list(self, **filters: str) -> Json:
        """Returns the catalogue: `receives`, `skills`, `headless` and `catalog_version`."""
        return await self._call("list skills", _path("skills", **filters))

    async def skill_read(self, name: str, version: str | None = None) -> Json | None:
        """Returns a skill in its current or an earlier version. None: there is none."""
        return await self._find("read a skill", _path("skills", name, version=version), dict)

    async def skill_versions(self, name: str) -> list[Json] | None:
        """Returns the history of a skill, newest first. None: there is no such skill."""
        return await self._find("read a history", _path("skills", name, "versions"), list)

    async def skill_write(self, name: str, source: str, *, overwrite: bool = False) -> Json:
        """Stores a skill of the agent: headers first."""
        return await self._call("write a skill", "/v1/skills", {"name": name, "source": source, "overwrite": overwrite})

    async def skill_status(self, name: str, status: Literal["Draft", "Approved", "Disabled"]) -> Json:
        """Changes the status of a skill."""
        return await self._call("change a skill's status", _path("skills", name, "status"), {"status": status})

    async def data_query(self, query: str = "", limit: int = 20, **filters: object) -> list[Json]:
        """Returns the entries with all of these words, or the newest ones."""
        body = {"query": query, "limit": limit, **filters}
        return read_objects(await self._call("query data", "/v1/data/query", body), "items")

    async def data_read(self, data_id: str) -> Json | None:
        """Returns an entry. None: it does not exist, or it expired."""
        return await self._find("read data", _path("data", data_id), dict)

    async def data_write(self, content: str, **fields: object) -> Json:
        """Stores an entry. Fields are `tags`, `recipients`, `expires_at` and `metadata`."""
        return await self._call("write data", "/v1/data", {"content": content, **fields})

    async def _send(self, op: str, agent: str, message: str, wait: float = limits.CALL_WAIT, **more: object) -> Json:
        body = {"op": op, "agent": agent, "message": message, **more}
        return await self._call("send a letter", "/v1/letters", body, wait)

    async def _find(self, what: str, path: str, kind: type[T]) -> T | None:
        response = await self.request(what, "GET", path)
        return None if response.status == 404 else response.read(kind)

    async def _call(self, what: str, path: str, body: Json | None = None, wait: float = limits.CALL_WAIT) -> Json:
        return (await self.request(what, "GET" if body is None else "POST", path, body, wait=wait)).read(dict)


def _path(*parts: str, **query: str | None) -> str:
    """Returns a path. A dot is escaped too: a part of two dots would lead to the parent."""
    path = "/v1/" + "/".join(quote(part, safe="").replace(".", "%2E") for part in parts)
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
