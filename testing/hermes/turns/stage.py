"""The environment of a scenario: a desk, a front, a gateway and the model behind it."""

import itertools
import time
from pathlib import Path

import props.stage
from props.judge import require, stays, until
from props.postgres import Cluster
from turns.agent import Agent
from turns.front import Front, Scripted
from turns.hermes import Hermes
from turns.model import Model
from turns.tap import Tap
from turns.webchat import Webchat

# The gateway's process is slow at its first turn; more so on a busy machine.
ANSWER_SECS = 180
# The desk stores acks in batches; a crash may lose those of the last moment.
ACKS_SETTLE_SECS = 1.0
REST_SECS = 0.5
THOUGHTS_MIN = 3
DISCORD_UNITS_MAX = 2000


class Stage(props.stage.Stage):
    """A desk with a running gateway."""

    def __init__(self, folder: Path, cluster: Cluster, platform: str) -> None:
        super().__init__(folder, cluster, platform)
        self.page = Webchat(folder / "webchat.jsonl")
        scripted = Scripted(self.platform, DISCORD_UNITS_MAX)
        self.front: Front = scripted if self.is_discord else self.page
        self.folder = folder
        self.words = itertools.count(1)
        self.agent = Agent(folder, "night", "owl", self.words)

    async def set_up(self, mutant: str | None, own_cluster: bool) -> None:
        """Sets up everything, including a gateway on the line."""
        await super().set_up(mutant, own_cluster)
        self._ends.push_async_callback(self.page.close)
        await self.desk.let_anyone_in()
        await self.agent.set_up(self.desk, self._bots(), self._ends)
        await self.enrol("gw-1")
        await self.start_hermes()

    @property
    def model(self) -> Model:
        """The model behind the gateway."""
        return self.agent.model

    @property
    def tap(self) -> Tap:
        """The traffic between the gateway and the desk."""
        return self.agent.tap

    @property
    def hermes(self) -> Hermes:
        """The gateway's process."""
        return self.agent.hermes

    @property
    def gateway(self) -> str:
        """The gateway's name."""
        return self.agent.gateway

    @property
    def is_discord(self) -> bool:
        """True if the client knows the platform by its name; otherwise it treats the platform as `relay`."""
        return self.platform.name == "discord"

    async def enrol(self, gateway: str) -> None:
        """Enrols the gateway under this name, from its next start on."""
        await self.agent.enrol(gateway)

    async def start_hermes(self) -> None:
        """Starts the gateway; returns when it is on a new line."""
        await self.agent.start()

    async def online_after(self, lines: int) -> None:
        """Waits until the gateway is on a line after these."""
        await self.agent.online_after(lines)

    def _bots(self) -> dict[str, str]:
        return {self.platform.name: self.platform.handle}

    async def _register_bot(self) -> None:
        if self.is_discord:
            await super()._register_bot()
        else:
            self.page.url = await self.desk.register_page(self.platform.handle)

    async def asks(self, chat: str, word: str) -> None:
        """A visitor asks about a word."""
        await self.front.write(chat, f"tell me about {word}")

    async def model_thinks(self, word: str) -> None:
        """Waits until the model is working on a word. A client that is stopped before it has received a thought asks
        again."""

        def thinks() -> bool:
            return any(turn.thoughts >= THOUGHTS_MIN for turn in self.model.turns_of(word))

        await until(f"the model thinks about {word}", thinks, ANSWER_SECS)

    def answers_to(self, chat: str, word: str) -> list[str]:
        """Returns the answers to a visitor about a word."""
        return [answer for answer in self.front.answers(chat) if word in answer]

    async def is_answered(self, chat: str, word: str, secs: float = ANSWER_SECS) -> None:
        """Waits until a visitor gets an answer about a word."""
        what = f"{chat} is answered about {word}"
        await until(what, lambda: bool(self.answers_to(chat, word)), secs)

    async def all_acked(self) -> None:
        """Waits until the gateway has acked everything that was delivered, and the desk has stored it."""
        await until(
            "everything handed over is acked",
            lambda: set(self.tap.handed()) <= set(self.tap.acked()),
            ANSWER_SECS,
        )
        # No frame confirms that an ack is stored.
        await stays("the line goes on", lambda: self.tap.lines[-1].is_up, ACKS_SETTLE_SECS)

    async def line_rests(self) -> None:
        """Waits until the line was silent for a moment, as long as a person takes to write. The client still works on
        a turn when its answer arrives, and loses messages that come at that moment."""
        await until(
            "the line rests",
            lambda: time.monotonic() - self.tap.heard_at > REST_SECS,
            ANSWER_SECS,
        )

    async def talk(self, chat: str) -> str:
        """A visitor asks and gets an answer; returns the word."""
        await self.line_rests()
        word = self.model.word()
        await self.asks(chat, word)
        await self.is_answered(chat, word)
        return word

    async def just_once(self, chat: str, *words: str, quiet_secs: float = 1) -> None:
        """Checks that each word had one turn of the model and one answer, and that no more follow."""

        def once() -> bool:
            return all(
                len(self.model.turns_of(word)) == 1 and len(self.answers_to(chat, word)) == 1
                for word in words
            )

        for word in words:
            turns, answers = len(self.model.turns_of(word)), len(self.answers_to(chat, word))
            require(turns == 1, f"the model was asked about {word} {turns} times")
            require(answers == 1, f"{chat} was answered about {word} {answers} times")
        await stays("one turn and one answer each", once, quiet_secs)
