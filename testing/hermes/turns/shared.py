"""A stage with one bot for the agents of two tenants, where people reach their own agent or none."""

import asyncio
import itertools
from dataclasses import dataclass
from pathlib import Path

import props.stage
from props.judge import until
from props.postgres import Cluster
from turns.agent import Agent
from turns.stage import ANSWER_SECS
from turns.waker import Waker

LINK_SECS = 10


@dataclass(frozen=True)
class Place:
    """A place where people write."""

    chat: str
    # None: a direct chat with the bot.
    scope: str | None = None


class Shared(props.stage.Stage):
    """A desk with two running agents that no person can reach yet."""

    def __init__(self, folder: Path, cluster: Cluster, platform: str) -> None:
        super().__init__(folder, cluster, platform)
        self._words = itertools.count(1)
        self.owl = Agent(folder, "night", "owl", self._words)
        self.bat = Agent(folder, "dusk", "bat", self._words)
        self.agents = (self.owl, self.bat)
        self.waker = Waker()

    async def set_up(self, mutant: str | None, own_cluster: bool) -> None:
        """Sets up everything, including two gateways on their lines."""
        await super().set_up(mutant, own_cluster)
        desk = self.desk
        await desk.ask("tenant", "create", self.bat.tenant)
        await desk.ask("agent", "create", "--tenant", self.bat.tenant, self.bat.name)
        await desk.ask("bot", "share", "--tenant", self.owl.tenant, "--bot", desk.bot)
        await self.waker.open(desk.waker_port)
        self._ends.push_async_callback(self.waker.close)
        await asyncio.gather(*(self._hire(agent) for agent in self.agents))

    async def _hire(self, agent: Agent) -> None:
        bots = {self.platform.name: self.platform.handle}
        await agent.set_up(self.desk, bots, self._ends)
        wake_url = f"http://127.0.0.1:{self.desk.waker_port}/{agent.name}"
        await self.desk.ask("agent", "wake-url", *agent.whose, wake_url)
        await agent.enrol(f"gw-{agent.name}")
        await agent.start()

    async def says(self, person: str, place: Place, text: str) -> None:
        """A person writes; returns when the desk has acknowledged it."""
        source = {"user_id": person, "user_name": person.title()}
        if place.scope is not None:
            source |= {"chat_type": "group", "scope_id": place.scope}
        letter = self.platform.write(text, place.chat, source)
        await self.platform.post_until_taken(*letter)

    async def asks(self, person: str, place: Place) -> str:
        """A person asks about a word, and gets an answer."""
        word = self.word()
        await self.says(person, place, f"tell me about {word}")
        return word

    async def is_answered(self, place: Place, word: str) -> None:
        """Waits until the word is answered at a place."""

        def answered() -> bool:
            return any(word in said for said in self.told(place))

        await until(f"{place.chat} is answered about {word}", answered, ANSWER_SECS)

    def word(self) -> str:
        """Returns a word that no other message contains."""
        return self.owl.model.word()

    def told(self, place: Place) -> list[str]:
        """Returns the bot's actions at a place, in order, including typing."""
        sends = [call["send"] for call in self.platform.delivered]
        here = [send for send in sends if send["chat_id"] == place.chat]
        return [str(send.get("content", send["op"])) for send in here]

    async def code_for(self, agent: Agent) -> str:
        """Returns the link message for a person and an agent."""
        return (await self.desk.ask("link", "create", *agent.whose))["say"]

    async def link(self, person: str, agent: Agent) -> Place:
        """Links a person to an agent, and returns the place: their direct chat."""
        place = Place(f"dm-of-{person}")
        told = len(self.told(place))
        await self.says(person, place, await self.code_for(agent))
        await until(f"{person} is linked", lambda: len(self.told(place)) > told, LINK_SECS)
        return place

    async def unlink(self, person: str, agent: Agent) -> None:
        """Removes a person's link."""
        words = ["binding", "remove", *agent.whose, "--bot", self.desk.bot]
        await self.desk.ask(*words, "--author", person)
