"""A fake Telegram, as a separate process, without a library for HTTP."""

import asyncio
import json
import os
import urllib.request
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any

from props.process import end, environment, spawn

START_SECS = 20


class Telegram:
    """A Telegram with the bots that were added. It ends with this process."""

    def __init__(self, folder: Path) -> None:
        self.url = ""
        self._folder = folder
        self._process: Process | None = None

    @property
    def settings(self) -> str:
        """Returns the desk's configuration for it."""
        return f'[telegram]\napi_url = "{self.url}"\n'

    async def open(self) -> None:
        """Starts it, and reads its address."""
        program = Path(os.environ["NIGHTDESK_BIN"]).resolve().parent / "examples" / "fake-telegram"
        with (self._folder / "fake-telegram.log").open("ab") as log:
            self._process = await spawn(
                [str(program)], self._folder, environment(self._folder), log, piped=True
            )
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), START_SECS)
        self.url = line.decode().strip()

    async def close(self) -> None:
        """Ends it."""
        if self._process is not None:
            end(self._process)
            await self._process.wait()

    async def furnish(self, token: str, handle: str, people: dict[str, int]) -> None:
        """Creates a bot, and the private chats of these people."""
        await self.control("bot", token=token, username=handle)
        for name, person in people.items():
            await self.control("chat", id=person, type="private", first_name=name)

    async def says(self, token: str, person: int, text: str) -> None:
        """A person sends a bot a message."""
        sender = {"id": person, "is_bot": False, "first_name": "Ann"}
        message = {"from": sender, "text": text}
        await self.control("happens", token=token, update={"message": message})

    async def told(self, token: str, chat: int) -> list[str]:
        """Returns a bot's messages in a chat, in order."""
        calls = await self.control("calls")
        own = [call["asked"] for call in calls if call["token"] == token and call["method"] == "sendMessage"]
        return [asked["text"] for asked in own if str(asked["chat_id"]) == str(chat)]

    async def control(self, what: str, **asked: Any) -> Any:
        """Sends a request to the control API, and returns its result."""
        body, kind = json.dumps(asked).encode(), {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/control/{what}", body, kind)

        def send() -> Any:
            with urllib.request.urlopen(request, timeout=START_SECS) as answer:
                return json.load(answer)["result"]

        return await asyncio.to_thread(send)
