"""The fake Discord and the fake Telegram, as separate processes.

Each has a control API over HTTP for the people's actions, and reports the desk's requests. Third-party clients check
the
fakes (`just discord-others`, `just telegram-others`).
"""

import asyncio
import json
import os
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx

from props.process import end, environment, spawn

ANSWER_SECS = 10
START_SECS = 10
DONE, TOO_MANY = 204, 429


class Fake:
    """A running fake. It ends with this process."""

    name: str
    lines: int

    def __init__(self, folder: Path) -> None:
        self.url = ""
        self._folder = folder
        self._process: Process | None = None
        self._http = httpx.AsyncClient(timeout=ANSWER_SECS, trust_env=False)
        self._said: list[str] = []

    async def open(self) -> None:
        """Starts the fake, and reads its addresses."""
        program = Path(os.environ["NIGHTDESK_BIN"]).parent / "examples" / f"fake-{self.name}"
        with (self._folder / f"fake-{self.name}.log").open("ab") as log:
            env = environment(self._folder)
            self._process = await spawn([str(program)], self._folder, env, log, piped=True)
        assert self._process.stdout is not None
        async with asyncio.timeout(START_SECS):
            for _ in range(self.lines):
                self._said.append((await self._process.stdout.readline()).decode().strip())
        self.url = self._said[0]

    async def close(self) -> None:
        """Ends the fake."""
        await self._http.aclose()
        if self._process is not None:
            end(self._process)
            await self._process.wait()

    async def control(self, what: str, **asked: Any) -> Any:
        """Sends a request to the control API."""
        # The last address in its first output is that of the control API.
        answer = await self._http.post(f"{self._said[-1]}/control/{what}", json=asked)
        answer.raise_for_status()
        return answer.json()


class Discord(Fake):
    """A Discord with one bot in one guild."""

    name = "discord"
    lines = 2

    token = "NDI0Mg.Gabcde.key-of-the-discord-bot"
    handle = "desk"
    bot = 4242
    guild = 70

    @property
    def settings(self) -> str:
        """Returns the desk's configuration for it."""
        gateway = self.url.replace("http", "ws")
        addresses = {"api_url": self.url, "gateway_url": gateway, "cdn_url": self.url}
        return "\n".join(["[discord]", *(f'{name} = "{url}"' for name, url in addresses.items()), ""])

    async def furnish(self, people: dict[str, int], rooms: dict[str, int]) -> None:
        """Creates the bot, the guild with these people, and its rooms."""
        await self.control("settings", identify_every=0)
        await self.control("bot", token=self.token, id=str(self.bot), name=self.handle)
        for name, person in people.items():
            await self.control("person", id=str(person), name=name)
        members = [{"user": {"id": str(person)}, "roles": []} for person in people.values()]
        channels = [{"id": str(room), "name": name} for name, room in rooms.items()]
        about = {"id": str(self.guild), "name": "Home", "owner_id": "1"}
        await self.control("guild", **about, members=members, channels=channels)
        await self.control("join", token=self.token, guild=str(self.guild))

    async def hears(self) -> bool:
        """Returns true if the bot has a session: it receives no earlier messages."""
        return any(socket["began"] is not None for socket in await self.control("sockets"))

    async def says(self, person: int, channel: int, text: str, *files: dict[str, str]) -> int:
        """A person sends the bot a message in a channel, optionally with files; returns the message's id."""
        said = {"content": f"<@{self.bot}> {text}", "files": files}
        return int(await self.control("say", user=str(person), channel=str(channel), said=said))

    async def open_thread(self, person: int, channel: int, name: str) -> int:
        """A person opens a thread in a channel; returns the thread's id."""
        asked = {"parent": str(channel), "owner": str(person), "thread": {"name": name}}
        return int((await self.control("thread", **asked))["id"])

    async def post_interactions_to(self, url: str) -> None:
        """Posts commands and button presses to this URL, signed."""
        await self.control("interactions_at", token=self.token, url=url)

    async def command(self, person: int, channel: int, name: str, text: str) -> str:
        """A person gives a command; returns the interaction's id."""
        given = [{"type": 3, "name": "text", "value": text}]
        where = {"bot": str(self.bot), "user": str(person), "channel": str(channel)}
        return await self.control("command", **where, name=name, options=given)

    async def interaction(self, id_: str) -> dict[str, Any]:
        """Returns the state of an interaction."""
        return next(one for one in await self.control("interactions") if one["id"] == id_)

    async def told(self, channel: int) -> list[str]:
        """Returns the bot's messages in a channel, in order."""
        return [message["content"] for message in await self._messages(channel)]

    async def files(self, channel: int) -> dict[str, bytes]:
        """Returns the files that the bot sent to a channel, by name."""
        attached = [file for message in await self._messages(channel) for file in message["attachments"]]
        return {file["filename"]: await self._content(file["url"]) for file in attached}

    async def commands(self) -> list[dict[str, Any]]:
        """Returns the bot's commands in the guild, as Discord would list them for the bot."""
        url = f"{self.url}/api/v10/applications/{self.bot}/guilds/{self.guild}/commands"
        answer = await self._http.get(url, headers={"authorization": f"Bot {self.token}"})
        answer.raise_for_status()
        return answer.json()

    async def registered(self) -> int:
        """Returns how many times the bot registered or changed a command."""
        calls = [call["route"] for call in await self.control("calls")]
        return sum(not route.startswith("GET") and "/commands" in route for route in calls)

    async def reactions(self, channel: int, message: int) -> list[str]:
        """Returns the bot's remaining reactions to a message, in order, without removed ones."""
        shown: list[str] = []
        for call in await self._reactions():
            if f"/channels/{channel}/messages/{message}/" not in call["path"] or call["status"] != DONE:
                continue
            emoji = unquote(call["path"].split("/")[-2])
            shown = [one for one in shown if one != emoji]
            shown += [emoji] if call["route"].startswith("PUT") else []
        return shown

    async def reacted(self) -> int:
        """Returns how many times the bot added or removed a reaction."""
        return len(await self._reactions())

    async def take(self, calls: int, window_ms: int) -> None:
        """Sets the rate limit of a kind of call, per channel."""
        await self.control("settings", bucket_calls=calls, bucket_window=window_ms)

    async def limited(self) -> list[str]:
        """Returns the calls that got a 429."""
        return [call["route"] for call in await self.control("calls") if call["status"] == TOO_MANY]

    async def typed(self, channel: int) -> int:
        """Returns how many times the bot typed in a channel."""
        path = f"/channels/{channel}/typing"
        return sum(call["path"].endswith(path) for call in await self.control("calls"))

    async def _reactions(self) -> list[dict[str, Any]]:
        return [call for call in await self.control("calls") if "/reactions/" in call["route"]]

    async def _messages(self, channel: int) -> list[dict[str, Any]]:
        messages = [m for m in await self.control("messages") if m["channel_id"] == str(channel)]
        return [message for message in messages if message["author"]["id"] == str(self.bot)]

    async def _content(self, url: str) -> bytes:
        answer = await self._http.get(url)
        answer.raise_for_status()
        return answer.content


class Telegram(Fake):
    """A Telegram with one bot."""

    name = "telegram"
    lines = 1

    token = "4242:key-of-the-telegram-bot"
    handle = "desk_bot"

    @property
    def settings(self) -> str:
        """Returns the desk's configuration for it."""
        return f'[telegram]\napi_url = "{self.url}"\n'

    async def furnish(self, people: dict[str, int]) -> None:
        """Creates the bot, and the private chats of these people with it."""
        await self.control("bot", token=self.token, username=self.handle)
        for name, person in people.items():
            await self.control("chat", id=person, type="private", first_name=name.title())

    async def says(self, person: int, text: str) -> None:
        """A person sends the bot a message."""
        sender = {"id": person, "is_bot": False, "first_name": "Somebody"}
        message = {"from": sender, "text": text}
        await self.control("happens", token=self.token, update={"message": message})

    async def told(self, chat: int) -> list[str]:
        """Returns the bot's messages in a chat, in order."""
        return [asked["text"] for asked in await self._asked("sendMessage", chat)]

    async def typed(self, chat: int) -> int:
        """Returns how many times the bot typed in a chat."""
        return len(await self._asked("sendChatAction", chat))

    async def reactions(self, chat: int) -> list[tuple[list[str], bool]]:
        """Returns the bot's reactions in a chat, in order, and whether Telegram accepted each."""
        calls = [call for call in await self._calls("setMessageReaction", chat)]
        return [(emoji_of(call["asked"]["reaction"]), "result" in call["answered"]) for call in calls]

    async def limited(self) -> list[str]:
        """Returns the calls that got a 429."""
        calls = await self.control("calls")
        return [call["method"] for call in calls if call["answered"].get("status") == TOO_MANY]

    async def control(self, what: str, **asked: Any) -> Any:
        """Sends a request to the control API."""
        return (await super().control(what, **asked))["result"]

    async def _asked(self, method: str, chat: int) -> list[dict[str, Any]]:
        """Returns the bot's calls of a method about a chat, in order."""
        return [call["asked"] for call in await self._calls(method, chat)]

    async def _calls(self, method: str, chat: int) -> list[dict[str, Any]]:
        calls = [call for call in await self.control("calls") if call["method"] == method]
        calls = [call for call in calls if call["token"] == self.token]
        return [call for call in calls if str(call["asked"]["chat_id"]) == str(chat)]


def emoji_of(reaction: list[dict[str, str]] | str) -> list[str]:
    """Returns the emoji of a reaction, which may be a list or the JSON of a list."""
    listed = json.loads(reaction) if isinstance(reaction, str) else reaction
    return [one["emoji"] for one in listed]
