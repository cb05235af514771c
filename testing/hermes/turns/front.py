"""The fronts: where visitors write, and where they read the answers.

Behind `discord` is a scripted platform. Behind `webchat` is our own page: see `webchat.py`.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from props.platform import Platform


@dataclass(frozen=True)
class Letter:
    """Something a visitor wrote, as it was posted."""

    chat: str
    message: str
    body: bytes


class Front(Protocol):
    """A place with chats. Each chat has one visitor."""

    # How long one message may be.
    units_max: int

    async def write(self, chat: str, text: str) -> Letter:
        """A visitor writes; returns when the desk has it."""

    async def repeat(self, letter: Letter) -> int:
        """The same once more, as a platform does that missed the answer; the desk's status."""

    def answers(self, chat: str) -> list[str]:
        """What the visitor was answered, in order."""

    def shown(self, chat: str) -> list[str | None]:
        """What the visitor was shown for a while, such as `typing…`, in order."""

    def buttons(self, chat: str) -> list[str]:
        """What the buttons of the newest question say."""

    async def press(self, chat: str, label: str) -> None:
        """The visitor presses a button of the newest question."""

    def statuses(self) -> list[int]:
        """What the desk said to what was written, in order; 0 where it said nothing."""


class Scripted:
    """A scripted platform under some platform's name."""

    def __init__(self, platform: Platform, units_max: int) -> None:
        self._platform = platform
        self.units_max = units_max

    async def write(self, chat: str, text: str) -> Letter:
        """A visitor writes; returns when the desk has it."""
        letter = Letter(chat, *self._platform.write(text, chat, {"user_id": f"visitor-of-{chat}"}))
        await self._platform.post_until_taken(letter.message, letter.body)
        return letter

    async def repeat(self, letter: Letter) -> int:
        """The same once more, as a platform does that missed the answer; the desk's status."""
        return await self._platform.post(letter.message, letter.body)

    def answers(self, chat: str) -> list[str]:
        """What the visitor was answered, in order."""
        return self._platform.messages(chat)

    def shown(self, chat: str) -> list[str | None]:
        """What the visitor was shown for a while, such as `typing…`, in order."""
        return [send["content"] for send in self._sends(chat) if send["op"] == "typing"]

    def buttons(self, chat: str) -> list[str]:
        """What the buttons of the newest question say."""
        prompt = self._prompt(chat)
        return [option["label"] for option in prompt["options"]] if prompt else []

    async def press(self, chat: str, label: str) -> None:
        """The visitor presses a button of the newest question."""
        prompt = self._prompt(chat)
        assert prompt is not None
        option = next(option for option in prompt["options"] if option["label"] == label)
        answer = {"prompt_id": prompt["prompt_id"], "option_id": option["id"], "label": label}
        more = {"message_type": "command", "prompt_response": answer}
        source = {"user_id": f"visitor-of-{chat}"}
        letter = self._platform.write(f"/{option['id']}", chat, source, **more)
        await self._platform.post_until_taken(*letter)

    def _prompt(self, chat: str) -> dict[str, Any] | None:
        prompts = [send for send in self._sends(chat) if send["op"] == "prompt"]
        return prompts[-1] if prompts else None

    def statuses(self) -> list[int]:
        """What the desk said to what was written, in order; 0 where it said nothing."""
        return [answer.status for answer in self._platform.answers]

    def _sends(self, chat: str) -> list[dict[str, Any]]:
        sends = [call["send"] for call in self._platform.delivered]
        return [send for send in sends if send["chat_id"] == chat]
