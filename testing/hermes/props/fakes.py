"""A Discord and a Telegram that are not theirs: our fakes, as processes of their own.

Each is told over HTTP what people do, and tells what the desk did. Clients of others hold them to
their word (`just discord-others`, `just telegram-others`).
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
    """A running fake. It ends with us."""

    name: str
    lines: int

    def __init__(self, folder: Path) -> None:
        self.url = ""
        self._folder = folder
        self._process: Process | None = None
        self._http = httpx.AsyncClient(timeout=ANSWER_SECS, trust_env=False)
        self._said: list[str] = []

    async def open(self) -> None:
        """Starts it, and learns where it is."""
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
        """Ends it."""
        await self._http.aclose()
        if self._process is not None:
            end(self._process)
            await self._process.wait()

    async def control(self, what: str, **asked: Any) -> Any:
        """Has something done, or asks what was."""
        # The last of what it said at its start is where it is controlled.
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
        """What a desk's configuration says of it."""
        gateway = self.url.replace("http", "ws")
        addresses = {"api_url": self.url, "gateway_url": gateway, "cdn_url": self.url}
        return "\n".join(["[discord]", *(f'{name} = "{url}"' for name, url in addresses.items()), ""])

    async def furnish(self, people: dict[str, int], rooms: dict[str, int]) -> None:
        """Makes the bot, the guild with these people, and its rooms."""
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
        """Whether the bot has a session: what is said before is told to nobody."""
        return any(socket["began"] is not None for socket in await self.control("sockets"))

    async def says(self, person: int, channel: int, text: str, *files: dict[str, str]) -> int:
        """Somebody writes in a channel, to the bot, perhaps with files; the message's id."""
        said = {"content": f"<@{self.bot}> {text}", "files": files}
        return int(await self.control("say", user=str(person), channel=str(channel), said=said))

    async def open_thread(self, person: int, channel: int, name: str) -> int:
        """Somebody opens a thread in a channel; the thread's id."""
        asked = {"parent": str(channel), "owner": str(person), "thread": {"name": name}}
        return int((await self.control("thread", **asked))["id"])

    async def post_interactions_to(self, url: str) -> None:
        """What people do with commands and buttons is posted there, signed."""
        await self.control("interactions_at", token=self.token, url=url)

    async def command(self, person: int, channel: int, name: str, text: str) -> str:
        """Somebody gives a command; the interaction's id."""
        given = [{"type": 3, "name": "text", "value": text}]
        where = {"bot": str(self.bot), "user": str(person), "channel": str(channel)}
        return await self.control("command", **where, name=name, options=given)

    async def interaction(self, id_: str) -> dict[str, Any]:
        """What became of an interaction."""
        return next(one for one in await self.control("interactions") if one["id"] == id_)

    async def told(self, channel: int) -> list[str]:
        """What the bot said in a channel, in order."""
        return [message["content"] for message in await self._messages(channel)]

    async def files(self, channel: int) -> dict[str, bytes]:
        """The files that the bot sent to a channel, by their names."""
        attached = [file for message in await self._messages(channel) for file in message["attachments"]]
        return {file["filename"]: await self._content(file["url"]) for file in attached}

    async def commands(self) -> list[dict[str, Any]]:
        """The bot's commands in the guild, as Discord would tell the bot itself."""
        url = f"{self.url}/api/v10/applications/{self.bot}/guilds/{self.guild}/commands"
        answer = await self._http.get(url, headers={"authorization": f"Bot {self.token}"})
        answer.raise_for_status()
        return answer.json()

    async def registered(self) -> int:
        """How often the bot made a command known, or changed one."""
        calls = [call["route"] for call in await self.control("calls")]
        return sum(not route.startswith("GET") and "/commands" in route for route in calls)

    async def reactions(self, channel: int, message: int) -> list[str]:
        """What the bot's reactions to a message came to, in order; one that was taken back is not among them."""
        shown: list[str] = []
        for call in await self._reactions():
            if f"/channels/{channel}/messages/{message}/" not in call["path"] or call["status"] != DONE:
                continue
            emoji = unquote(call["path"].split("/")[-2])
            shown = [one for one in shown if one != emoji]
            shown += [emoji] if call["route"].startswith("PUT") else []
        return shown

    async def reacted(self) -> int:
        """How often the bot put a reaction, or took one back."""
        return len(await self._reactions())

    async def take(self, calls: int, window_ms: int) -> None:
        """Takes so many calls of a kind in a window from now on, in each channel."""
        await self.control("settings", bucket_calls=calls, bucket_window=window_ms)

    async def limited(self) -> list[str]:
        """The calls that were answered with a 429."""
        return [call["route"] for call in await self.control("calls") if call["status"] == TOO_MANY]

    async def typed(self, channel: int) -> int:
        """How often the bot was seen to type in a channel."""
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
        """What a desk's configuration says of it."""
        return f'[telegram]\napi_url = "{self.url}"\n'

    async def furnish(self, people: dict[str, int]) -> None:
        """Makes the bot, and the private chats of these people with it."""
        await self.control("bot", token=self.token, username=self.handle)
        for name, person in people.items():
            await self.control("chat", id=person, type="private", first_name=name.title())

    async def says(self, person: int, text: str) -> None:
        """Somebody writes to the bot."""
        sender = {"id": person, "is_bot": False, "first_name": "Somebody"}
        message = {"from": sender, "text": text}
        await self.control("happens", token=self.token, update={"message": message})

    async def told(self, chat: int) -> list[str]:
        """What the bot said in a chat, in order."""
        return [asked["text"] for asked in await self._asked("sendMessage", chat)]

    async def typed(self, chat: int) -> int:
        """How often the bot was seen to type in a chat."""
        return len(await self._asked("sendChatAction", chat))

    async def reactions(self, chat: int) -> list[tuple[list[str], bool]]:
        """What the bot reacted with in a chat, in order, and whether it may."""
        calls = [call for call in await self._calls("setMessageReaction", chat)]
        return [(emoji_of(call["asked"]["reaction"]), "result" in call["answered"]) for call in calls]

    async def limited(self) -> list[str]:
        """The calls that were answered with a 429."""
        calls = await self.control("calls")
        return [call["method"] for call in calls if call["answered"].get("status") == TOO_MANY]

    async def control(self, what: str, **asked: Any) -> Any:
        """Has something done, or asks what was."""
        return (await super().control(what, **asked))["result"]

    async def _asked(self, method: str, chat: int) -> list[dict[str, Any]]:
        """What the bot asked of it about a chat, in order."""
        return [call["asked"] for call in await self._calls(method, chat)]

    async def _calls(self, method: str, chat: int) -> list[dict[str, Any]]:
        calls = [call for call in await self.control("calls") if call["method"] == method]
        calls = [call for call in calls if call["token"] == self.token]
        return [call for call in calls if str(call["asked"]["chat_id"]) == str(chat)]


def emoji_of(reaction: list[dict[str, str]] | str) -> list[str]:
    """The emoji of a reaction, which may be written as a list or as the JSON of one."""
    listed = json.loads(reaction) if isinstance(reaction, str) else reaction
    return [one["emoji"] for one in listed]
