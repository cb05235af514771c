"""Session keys: the client's names of conversations, as Hermes computes them."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nightdesk.message import Source

# The platforms that Hermes knows. It calls every other one `relay`.
_KNOWN = """
    local telegram discord whatsapp whatsapp_cloud slack signal mattermost matrix homeassistant email sms dingtalk
    api_server webhook msgraph_webhook feishu wecom wecom_callback weixin bluebubbles qqbot yuanbao relay google_chat
    irc line ntfy photon raft simplex teams
""".split()  # noqa: SIM905 - a list has a line for each


def session_key(source: "Source") -> str:
    """Returns the key of a source: a chat, and in groups a person in it.

    A source that Hermes cannot key gets a name of the SDK's own, so that it has a turn.
    """
    try:
        return ":".join(["agent", "main", *_parts(source)])
    except _UnkeyableError:
        return f"chat:{source.platform}:{source.chat_id}"


class _UnkeyableError(Exception):
    """An address has no stable part."""


def _parts(source: "Source") -> list[str]:
    name = source.platform.strip().lower()
    platform = name if name in _KNOWN else "relay"
    thread = source.thread_id or ""
    chat = source.chat_id
    if source.chat_type == "dm":
        chat = _stable_part(chat) if platform == "whatsapp" else chat
        kind, rest = "dm", [chat or _person(source, platform), thread]
    else:
        opens_thread = not thread and bool(source.prospective_thread_id)
        thread = thread or source.prospective_thread_id or ""
        kind = "thread" if opens_thread else source.chat_type
        # The people of a thread share its session.
        person = _person(source, platform)
        rest = [chat, thread, "" if thread else person]
    scope = (source.scope_id or "") if platform == "slack" else ""
    return [platform, kind, *filter(None, [scope, *rest])]


def _person(source: "Source", platform: str) -> str:
    person = source.user_id_alt or source.user_id or ""
    return (_stable_part(person) or person) if platform == "whatsapp" else person


def _stable_part(address: str) -> str:
    """Returns a WhatsApp address without plus sign, device and server."""
    once = re.split("[:@]", address.strip().replace("+", "", 1))[0]
    if not once:
        return once
    # Hermes normalises twice, and the second pass removes a second plus sign.
    twice = re.split("[:@]", once.strip().replace("+", "", 1))[0]
    if not re.match(r"[A-Za-z0-9@.+-]+$", twice):
        raise _UnkeyableError
    return twice
