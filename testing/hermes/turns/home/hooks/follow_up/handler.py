"""An owner's hook in the stock gateway: it also answers a command on Discord by `follow_up`. The client has that
call, and never makes it by itself."""

from typing import Any

from gateway.config import Platform
from gateway.run import _gateway_runner_ref
from gateway.session import SessionSource, build_session_key


async def handle(event_type: str, context: dict[str, Any]) -> None:
    """Called when a turn is over."""
    if context["platform"] != "discord" or 'invoked the "ask" skill' not in context["message"]:
        return
    names = ("chat_id", "chat_type", "user_id", "thread_id")
    # Outside of threads it is empty here, and absent in the client's own sources.
    source = SessionSource(Platform.DISCORD, **{name: context[name] or None for name in names})
    relay = _gateway_runner_ref().adapters[Platform.RELAY]
    session = build_session_key(source)
    await relay.send_follow_up(session, "discord.interaction_token", context["response"])
