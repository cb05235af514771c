"""The fronts: the places where visitors write and read the answers.

Behind `discord` is a scripted platform. Behind `webchat` is the desk's own page: see `webchat.py`.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from props.platform import Platform


@dataclass(frozen=True)
class Letter:
    """A visitor's message, as it was posted."""

    chat: str
    message: str
    body: bytes


class Front(Protocol):
    """A place with chats. Each chat has one visitor."""

    # The maximum length of one message.
    units_max: int

    async def write(self, chat: str, text: str) -> Letter:
        """A visitor writes; returns when the desk has the message."""

    async def repeat(self, letter: Letter) -> int:
        """Posts the message once more, like a platform that missed the response; returns the desk's status."""

    def answers(self, chat: str) -> list[str]:
        """Returns the answers to the visitor, in order."""

    def shown(self, chat: str) -> list[str | None]:
        """Returns the temporary states that the visitor saw, such as `typing…`, in order."""

    def buttons(self, chat: str) -> list[str]:
        """Returns the labels of the buttons of the newest question."""

    async def press(self, chat: str, label: str) -> None:
        """The visitor presses a button of the newest question."""

    def statuses(self) -> list[int]:
        """Returns the desk's statuses for the posts, in order; 0 without a response."""


class Scripted:
    """A scripted platform under a given platform name."""

    def __init__(self, platform: Platform, units_max: int) -> None:
        self._platform = platform
        self.units_max = units_max

    async def write(self, chat: str, text: str) -> Letter:
        """A visitor writes; returns when the desk has the message."""
        letter = Letter(chat, *self._platform.write(text, chat, {"user_id": f"visitor-of-{chat}"}))
        await self._platform.post_until_taken(letter.message, letter.body)
        return letter

    async def repeat(self, letter: Letter) -> int:
        """Posts the message once more, like a platform that missed the response; returns the desk's status."""
        return await self._platform.post(letter.message, letter.body)

    def answers(self, chat: str) -> list[str]:
        """Returns the answers to the visitor, in order."""
        return self._platform.messages(chat)

    def shown(self, chat: str) -> list[str | None]:
        """Returns the temporary states that the visitor saw, such as `typing…`, in order."""
        return [send["content"] for send in self._sends(chat) if send["op"] == "typing"]

    def buttons(self, chat: str) -> list[str]:
        """Returns the labels of the buttons of the newest question."""
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
        """Returns the desk's statuses for the posts, in order; 0 without a response."""
        return [answer.status for answer in self._platform.answers]

    def _sends(self, chat: str) -> list[dict[str, Any]]:
        sends = [call["send"] for call in self._platform.delivered]
        return [send for send in sends if send["chat_id"] == chat]
