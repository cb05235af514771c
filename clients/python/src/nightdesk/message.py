"""Entries as data: messages of people, and requests of platforms."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, Self, cast, get_args

from nightdesk.session_key import session_key
from nightdesk.wire import Json, read_object, read_objects, read_text

ChatType = Literal["dm", "group", "channel", "thread", "forum"]
MessageType = Literal["text", "location", "photo", "video", "audio", "voice", "document", "sticker", "command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The chat and the author of a message."""

    platform: str = ""
    chat_id: str = ""
    chat_type: ChatType = "dm"
    chat_name: str | None = None
    chat_topic: str | None = None
    user_id: str | None = None
    user_name: str | None = None
    user_display_name: str | None = None
    user_handle: str | None = None
    user_id_alt: str | None = None
    chat_id_alt: str | None = None
    thread_id: str | None = None
    scope_id: str | None = None
    parent_chat_id: str | None = None
    message_id: str | None = None
    profile: str | None = None
    prospective_thread_id: str | None = None
    # The platform's id of the bot that got the message.
    bot_id: str | None = None
    is_bot: bool = False
    message_is_edit: bool = False

    @classmethod
    def read(cls, source: Json) -> Self:
        """Reads a source tolerantly."""
        found: dict[str, Any] = {name: text for name in _TEXTS if (text := read_text(source, name)) is not None}
        found.setdefault("scope_id", read_text(source, "guild_id"))
        found["bot_id"] = read_text(source, "botId")
        if found.setdefault("chat_type", "dm") not in get_args(ChatType):
            found["chat_type"] = "group"
        found |= {name: source.get(name) is True for name in ("is_bot", "message_is_edit")}
        return cls(**found)


_TEXTS = [f.name for f in fields(Source) if f.name not in ("is_bot", "message_is_edit")]


@dataclass(frozen=True, slots=True)
class Place:
    """A chat, and the fields that distinguish it from others of the same id. `bot` is the bot that acts there."""

    chat_id: str
    platform: str | None = None
    bot: str | None = None
    metadata: Json = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source) -> Self:
        """Returns the place of a message, which is also the place of a reply."""
        known = ("scope_id", "thread_id", "user_id", "profile")
        metadata = {name: value for name in known if (value := getattr(source, name))}
        platform = source.platform if source.platform not in ("", "relay") else None
        return cls(source.chat_id, platform, source.bot_id, metadata)


class Message:
    """An entry: a message of a person, or an event in the form of one.

    - `event`: the whole event as the desk sent it; `text`, `message_id` and `message_type` are of it.
    - `media`: the files, as `{url, mime, kind, size, filename, caption}`.
    - `prompt_response`, `fire`, `letter`: a pressed button, a due job, a letter of another agent; empty if it is none.
    - `forward`: the platform's request of a passthrough entry; empty for every other entry.
    """

    def __init__(self, frame: Json) -> None:
        """Reads an `inbound` or a `passthrough_forward` frame tolerantly."""
        self.id = read_text(frame, "bufferId")
        self.forward = read_object(frame, "forward")
        event = self.event = read_object(frame, "event")
        self.source = Source.read(read_object(event, "source"))
        self.text = read_text(event, "text") or ""
        self.message_id = read_text(event, "message_id")
        kind = read_text(event, "message_type")
        self.message_type = cast(MessageType, kind) if kind in get_args(MessageType) else "text"
        self.media = read_objects(event, "media")
        self.prompt_response = read_object(event, "prompt_response")
        self.fire, self.letter = read_object(event, "fire"), read_object(event, "letter")

    def __repr__(self) -> str:
        """Shows no text: a repr ends up in logs."""
        return f"{type(self).__name__}({self.id})"

    @cached_property
    def session_key(self) -> str:
        """The conversation: a chat, and in groups a person in it."""
        platform, bot = (read_text(self.forward, name) or "" for name in ("platform", "botId"))
        return f"forward:{platform}:{bot}" if self.forward else session_key(self.source)

    @property
    def place(self) -> Place:
        """The place of a reply."""
        return Place.of(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """The abilities of a platform."""

    platform: str
    label: str
    max_message_length: int
    len_unit: Literal["chars", "utf16"]
    markdown_dialect: str
    supported_ops: frozenset[str]

    @classmethod
    def read(cls, fields: Json) -> Self:
        """Reads a descriptor tolerantly."""
        texts = {name: read_text(fields, name) or "" for name in ("platform", "label", "markdown_dialect")}
        length, ops = fields.get("max_message_length"), fields.get("supported_ops")
        return cls(
            **texts,
            max_message_length=length if isinstance(length, int) and length > 0 else 4096,
            len_unit="utf16" if fields.get("len_unit") == "utf16" else "chars",
            supported_ops=frozenset(ops if isinstance(ops, list) else ("send", "edit", "typing", "follow_up")),
        )
