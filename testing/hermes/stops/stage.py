"""A desk with agents of every kind on one Telegram, and the ways to stop them."""

import itertools
import json
from pathlib import Path
from typing import Any

import httpx

import props.stage
from props.client import VERSION
from props.fakes import Telegram
from props.judge import until_so
from props.postgres import Cluster
from stops.clients import Client, Mcp, Polling, Stock, Webhook, call_tool, programs
from turns.agent import Agent
from turns.webchat import Webchat

# The bot's own word.
WORD = "halt"
# The agent that may stop others, and that writes letters.
BOSS = "boss"
BUTTON_SECS = 30
FIRST_PERSON = 700


class Stage(props.stage.Stage):
    """Each client has two people on Telegram: one whose turn is stopped, and one whose turn goes on."""

    def __init__(self, folder: Path, cluster: Cluster, with_others: bool, only: set[str]) -> None:
        super().__init__(folder, cluster, "telegram")
        self.telegram = Telegram(folder)
        self.folder = folder
        hired = Agent(folder, "night", f"a-hermes-{VERSION.replace('.', '-')}", itertools.count(1))
        bots = {"telegram": Telegram.handle, "webchat": "page"}
        self.clients: list[Client] = [Stock(VERSION, folder, hired, bots)]
        if with_others:
            simple = [Polling("polling", folder), Webhook("webhook", folder), Mcp("mcp", folder)]
            self.clients = [*programs(folder), *simple, *self.clients]
        if only:
            self.clients = [client for client in self.clients if client.name in only]
        self.pages: dict[str, Webchat] = {}
        self.http = httpx.AsyncClient(timeout=30, trust_env=False)
        self._tokens: dict[str, str] = {}
        self._bot = ""

    async def set_up(self, mutant: str | None, own_cluster: bool) -> None:
        """Sets up everything, including the clients on their lines."""
        await super().set_up(mutant, own_cluster)
        self._ends.push_async_callback(self.http.aclose)
        await self._hire(BOSS)
        await self.desk.ask("agent", "let-stop", "--tenant", self.desk.tenant, "--agent", BOSS)
        for client in self.clients:
            client.tenant = self.desk.tenant
            await self._hire(client.agent)
            for person in self.people(client):
                words = ("binding", "create", *client.whose, "--bot", self._bot)
                await self.desk.ask(*words, "--author", str(person))
            if not client.shows_unfinished:
                await self._open_page(client)
            await client.start(self.desk, self._ends)

    def people(self, client: Client) -> tuple[int, int]:
        """Returns the person whose turn is stopped, and the one whose turn goes on."""
        first = FIRST_PERSON + 2 * self.clients.index(client)
        return first, first + 1

    async def texts_to(self, chat: int) -> list[str]:
        """Returns the texts that a person on Telegram got, as Telegram shows them without markup."""
        return [text.replace("\\", "") for text in await self.telegram.told(chat)]

    async def press_stop(self, person: int) -> None:
        """A person presses the button under the newest unfinished answer."""

        async def is_shown() -> bool:
            return bool(await self._buttons(person))

        await until_so("a stop button is shown", is_shown, BUTTON_SECS)
        message, data = (await self._buttons(person))[-1]
        pressed = {"chat_id": person, "message_id": message, "person": person, "data": data}
        await self.telegram.control("press", token=Telegram.token, **pressed)

    async def post(self, path: str, token: str, body: dict[str, Any]) -> dict[str, Any]:
        """Calls a route of the node that no agent uses."""
        url = f"{self.desk.front.public_url}{path}"
        answer = await self.http.post(url, json=body, headers={"authorization": f"Bearer {token}"})
        answer.raise_for_status()
        return answer.json()

    async def tool(self, name: str, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Calls a tool of the node that no agent uses."""
        headers = {"authorization": f"Bearer {token}"}
        return await call_tool(self.http, self.desk.front.public_url, name, arguments, **headers)

    async def token(self, agent: str) -> str:
        """Returns a token for an agent."""
        if agent not in self._tokens:
            made = await self.desk.ask("issuer", "token", "--tenant", self.desk.tenant, "--agent", agent)
            self._tokens[agent] = made["token"]
        return self._tokens[agent]

    async def _settings(self) -> str:
        self._ends.push_async_callback(self.telegram.close)
        await self.telegram.open()
        people = {f"p{person}": person for client in self.clients for person in self.people(client)}
        await self.telegram.furnish(people)
        return self.telegram.settings

    async def _register_bot(self) -> None:
        """Creates the bot with a word of its own."""
        key = self.folder / "telegram.key"
        key.write_text(Telegram.token)
        key.chmod(0o600)
        settings = json.dumps({"updates": "poll", "stop_word": WORD})
        words = ("bot", "create", "--tenant", self.desk.tenant, "--platform", "telegram")
        words += ("--handle", Telegram.handle, "--key-file", str(key), "--settings", settings)
        self._bot = (await self.desk.ask(*words))["bot_id"]

    async def _hire(self, agent: str) -> None:
        await self.desk.ask("agent", "create", "--tenant", self.desk.tenant, agent)

    async def _open_page(self, client: Client) -> None:
        """Opens a page of the desk to a client's visitors."""
        page = self.pages[client.name] = Webchat(self.folder / f"{client.name}-page.jsonl")
        self._ends.push_async_callback(page.close)
        handle = f"page-{client.agent}"
        made = await self.desk.ask(
            "bot", "create", "--tenant", self.desk.tenant, "--platform", "webchat", "--handle", handle
        )
        page.url = made["url"]
        words = ("grant", "create", *client.whose, "--bot", made["bot_id"], "--chat", "*", "--open")
        await self.desk.ask(*words)

    async def _buttons(self, chat: int) -> list[tuple[int, str]]:
        """Returns the stop buttons under the bot's messages in a chat: the message and the button's data."""
        found: dict[int, str] = {}
        for call in await self.telegram.control("calls"):
            if str(call["asked"].get("chat_id")) != str(chat) or "result" not in call["answered"]:
                continue
            if call["method"] == "sendMessage":
                message = call["answered"]["result"]["message_id"]
            elif call["method"] == "editMessageText":
                message = int(call["asked"]["message_id"])
            else:
                continue
            found.pop(message, None)
            keyboard = call["asked"].get("reply_markup")
            keyboard = json.loads(keyboard) if isinstance(keyboard, str) else keyboard
            if keyboard:
                found[message] = keyboard["inline_keyboard"][0][0]["callback_data"]
        return sorted(found.items())
