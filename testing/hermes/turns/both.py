"""A stage with one agent on Discord and Telegram at once."""

import itertools
import shutil
from pathlib import Path
from typing import Any

import props.stage
from props.fakes import Discord, Telegram
from props.judge import until_so
from props.postgres import Cluster
from turns.agent import Agent
from turns.stage import ANSWER_SECS
from turns.waker import Waker

HEARS_SECS = 20
# The owner's additions to the gateway's home: a command, and a hook that answers it.
HOME = Path(__file__).parent / "home"

# On Discord, Ann and Bob are in one guild. On Telegram, Tim and Uma write to the bot alone.
ANN, BOB = 900, 901
TIM, UMA = 700, 701
ROOMS = {"general": 500, "commands": 501, "night": 502}


class Both(props.stage.Stage):
    """A desk with a running agent that people reach on both platforms."""

    def __init__(self, folder: Path, cluster: Cluster, platform: str) -> None:
        super().__init__(folder, cluster, platform)
        self.discord = Discord(folder)
        self.telegram = Telegram(folder)
        self.agent = Agent(folder, "night", "owl", itertools.count(1))
        self.waker = Waker()
        self.folder = folder
        # The bot on Discord, as the desk knows it.
        self.discord_bot = ""

    async def set_up(self, mutant: str | None, own_cluster: bool) -> None:
        """Sets up everything, including a gateway on the line and connected bots."""
        await super().set_up(mutant, own_cluster)
        await self.waker.open(self.desk.waker_port)
        self._ends.push_async_callback(self.waker.close)
        await self._hire()
        await until_so("the bot is on Discord", self.discord.hears, HEARS_SECS)

    async def _settings(self) -> str:
        """Allows the platforms' addresses, and configures them."""
        for fake in (self.discord, self.telegram):
            self._ends.push_async_callback(fake.close)
            await fake.open()
        await self.discord.furnish({"ann": ANN, "bob": BOB}, ROOMS)
        await self.telegram.furnish({"tim": TIM, "uma": UMA})
        return self.discord.settings + self.telegram.settings

    async def _register_bot(self) -> None:
        """Connects the bots as their pages describe, and links their people to the agent."""
        made = await self._connect(self.discord, (ANN, BOB))
        self.discord_bot = made["bot_id"]
        await self._connect(self.telegram, (TIM, UMA))
        await self.discord.post_interactions_to(made["interactions"])

    async def _connect(self, fake: Discord | Telegram, people: tuple[int, ...]) -> dict[str, Any]:
        key = self.folder / f"{fake.name}.key"
        key.write_text(fake.token)
        key.chmod(0o600)
        words = ("bot", "connect", fake.name, "--tenant", self.desk.tenant)
        made = await self.desk.ask(*words, "--key-file", str(key))
        for person in people:
            words = ("binding", "create", *self.agent.whose, "--bot", made["bot_id"])
            await self.desk.ask(*words, "--author", str(person))
        return made

    async def _hire(self) -> None:
        bots = {fake.name: fake.handle for fake in (self.discord, self.telegram)}
        await self.agent.set_up(self.desk, bots, self._ends)
        shutil.copytree(HOME, self.agent.hermes.home, dirs_exist_ok=True)
        wake_url = f"http://127.0.0.1:{self.desk.waker_port}/{self.agent.name}"
        await self.desk.ask("agent", "wake-url", *self.agent.whose, wake_url)
        await self.agent.enrol("gw-1")
        await self.agent.start()

    def word(self) -> str:
        """Returns a word that no other message contains."""
        return self.agent.model.word()

    async def answered_on_discord(self, channel: int, word: str) -> None:
        """Waits until the word is answered in a channel."""

        async def answered() -> bool:
            return said(await self.discord.told(channel), word)

        await until_so(f"channel {channel} is answered about {word}", answered, ANSWER_SECS)

    async def answered_on_telegram(self, chat: int, word: str) -> None:
        """Waits until the word is answered in a chat."""

        async def answered() -> bool:
            return said(await self.telegram.told(chat), word)

        await until_so(f"chat {chat} is answered about {word}", answered, ANSWER_SECS)

    def logs(self) -> str:
        """Returns the logs of the desk's nodes, the gateway and the line's tap."""
        written = [*self.folder.glob("*.log"), *self.folder.glob("*.jsonl")]
        return "\n".join(log.read_text(errors="replace") for log in written)


def said(texts: list[str], word: str) -> bool:
    """Returns true if any of the texts contains the word."""
    return any(word in text for text in texts)
