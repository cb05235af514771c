"""Actions of an agent on a platform, and their results: docs/protocol.md, section 5."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nightdesk.errors import AmbiguousError, FailedError, RefusedError, UnknownOutcomeError
from nightdesk.message import Place
from nightdesk.wire import Json, read_object, read_text


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of an action that was executed."""

    message_id: str | None = None
    thread_id: str | None = None
    note: str | None = None
    # `{name, type}`, the response to `get_chat_info`.
    chat: Json | None = None


def build_action(op: str, place: Place, fields: Mapping[str, object]) -> Json:
    """Returns an action as the desk reads it.

    A field that is None is left out, and so is the chat of a place without one.
    """
    set_fields = {name: value for name, value in fields.items() if value is not None}
    chat = {"chat_id": place.chat_id} if place.chat_id else {}
    return {"op": op, **chat, **set_fields, "metadata": dict(place.metadata)}


def read_receipt(result: Json | None, request_id: str) -> Receipt:
    """Returns the receipt of a result, or raises the error that it reports. None: no result came."""
    if result is None:
        raise UnknownOutcomeError(request_id)
    if result.get("success") is True:
        message_id, thread_id, note = (read_text(result, name) for name in ("message_id", "thread_id", "note"))
        return Receipt(message_id, thread_id, note, read_object(result, "chat_info") or None)
    if result.get("ambiguous") is True:
        raise AmbiguousError(request_id)
    if result.get("code") == "unrecorded":
        raise UnknownOutcomeError(request_id)
    reason = read_text(result, "error") or "the desk gave no reason"
    raise (RefusedError if result.get("code") == "egress_declined" else FailedError)(reason)


class Sender(ABC):
    """The operations of an agent. Each is made at most once, and raises a `SendError`."""

    @abstractmethod
    async def act(self, op: str, place: Place, *, request_id: str | None = None, **fields: object) -> Receipt:
        """Performs any op. The bot's descriptor lists the supported ones.

        Repeat an `UnknownOutcomeError` with its `request_id`: the desk executes an id once.
        """

    async def send(self, place: Place, content: str, *, reply_to: str | None = None) -> Receipt:
        """Sends a message. The desk splits a long one."""
        return await self.act("send", place, content=content, reply_to=reply_to)

    async def edit(self, place: Place, message_id: str, content: str) -> Receipt:
        """Replaces the text of a message that the agent sent."""
        return await self.act("edit", place, message_id=message_id, content=content)

    async def delete(self, place: Place, message_id: str) -> Receipt:
        """Removes a message that the agent sent."""
        return await self.act("delete", place, message_id=message_id)

    async def typing(self, place: Place, status: str | None = None) -> Receipt:
        """Shows that the agent is at work. An empty status clears it."""
        return await self.act("typing", place, content=status)

    async def draft(self, place: Place, draft_id: int, content: str, *, final: bool = False) -> Receipt:
        """Shows a reply while it is being written."""
        return await self.act("draft", place, draft_id=draft_id, content=content, final=final)

    async def send_media(
        self,
        place: Place,
        media_kind: Literal["image", "voice", "audio", "video", "document"],
        source_url: str,
        *,
        caption: str | None = None,
        filename: str | None = None,
        reply_to: str | None = None,
    ) -> Receipt:
        """Sends a file by its reference at the desk."""
        file = {"media_kind": media_kind, "source_url": source_url, "filename": filename}
        return await self.act("send_media", place, content=caption, reply_to=reply_to, **file)

    async def prompt(
        self,
        place: Place,
        content: str,
        options: Mapping[str, str],
        *,
        prompt_id: str,
        prompt_kind: Literal["approval", "clarify", "choice"] = "choice",
        timeout_s: float | None = None,
    ) -> Receipt:
        """Asks with buttons: `options` has a label for each id. A press is an entry."""
        buttons = [{"id": option, "label": label} for option, label in options.items()]
        kind = {"prompt_id": prompt_id, "prompt_kind": prompt_kind}
        return await self.act("prompt", place, content=content, options=buttons, timeout_s=timeout_s, **kind)

    async def react(self, place: Place, message_id: str, emoji: str, *, remove: bool = False) -> Receipt:
        """Adds a reaction to a message, or removes it."""
        return await self.act("react", place, message_id=message_id, emoji=emoji, remove=remove)

    async def get_chat_info(self, place: Place) -> Receipt:
        """Reads the name and the type of a chat, into the receipt's `chat`."""
        return await self.act("get_chat_info", place)

    async def follow_up(self, session_key: str, content: str) -> Receipt:
        """Answers a slash command with the platform's own token, which the desk holds."""
        fields = {"session_key": session_key, "kind": "discord.interaction_token"}
        return await self.act("follow_up", Place("", "discord"), content=content, **fields)
