"""The environment of a scenario: two agents that write to each other, and people who write to them."""

import asyncio
import itertools
import time
from pathlib import Path
from typing import Any

import props.stage
from props.client import IS_0_19
from props.judge import require, stays, until, until_so
from props.postgres import Cluster
from turns.agent import Agent
from turns.model import Call, Plan, Turn
from turns.stage import ANSWER_SECS, REST_SECS
from turns.tap import Frame
from turns.waker import Waker

# The platform of letters, as the client sees it.
DESK = "desk"
CALL_SECS = 20
LINE_SECS = 20
# Several times the time to an agent and back.
QUIET_SECS = 3
# A gateway's process is slow to start. Not longer than the desk's limit for a reply.
PATIENCE_MS = 240_000

# The configuration with which an owner lets the client use the desk's tools.
TOOLS = """
mcp_servers:
  nightdesk:
    url: "http://127.0.0.1:{port}/mcp"
    headers:
      Authorization: "Bearer {token}"
"""


class Stage(props.stage.Stage):
    """A desk with a running agent, Ann's owl, and one that is off, Bob's bat. Both belong to one tenant."""

    other = ("night", "bat")

    def __init__(self, folder: Path, cluster: Cluster, platform: str) -> None:
        super().__init__(folder, cluster, platform)
        words = itertools.count(1)
        self.owl = Agent(folder, "night", "owl", words)
        self.bat = Agent(folder, *self.other, words)
        self.waker = Waker()
        # The bat's name for the owl.
        self.address = self.bat.name

    async def set_up(self, mutant: str | None, own_cluster: bool) -> None:
        """Sets up everything, including the owl's gateway on its line."""
        await super().set_up(mutant, own_cluster)
        await self._make_other()
        await self.waker.open(self.desk.waker_port)
        self._ends.push_async_callback(self.waker.close)
        await asyncio.gather(self._hire(self.owl), self._hire(self.bat))
        await self.owl.start()

    async def _make_other(self) -> None:
        await self.desk.ask("agent", "create", "--tenant", self.bat.tenant, self.bat.name)
        for person, agent in (("ann", self.owl), ("bob", self.bat)):
            await self._bind(person, agent)

    async def _bind(self, person: str, agent: Agent) -> None:
        words = ("binding", "create", *agent.whose, "--bot", self.desk.bot)
        await self.desk.ask(*words, "--author", person)

    async def _hire(self, agent: Agent) -> None:
        """Creates an agent's gateway, which knows the desk's tools. It is off."""
        await agent.set_up(self.desk, {self.platform.name: self.platform.handle}, self._ends)
        wake_url = f"http://127.0.0.1:{self.desk.waker_port}/{agent.name}"
        await self.desk.ask("agent", "wake-url", *agent.whose, wake_url)
        token = (await self.desk.ask("issuer", "token", *agent.whose))["token"]
        # Gateways dial the other node, so each tool call crosses between nodes.
        agent.hermes.configure(TOOLS.format(port=self.desk.front.port, token=token))
        await agent.enrol(f"gw-{agent.name}")

    async def asleep(self) -> None:
        """Ends the bat's gateway with SIGTERM, if it runs; returns when every node knows."""
        if self.bat.tap.lines:
            line = self.bat.tap.lines[-1]
            self.bat.hermes.ask_to_end()
            await self.bat.hermes.ended()
            await until("the desk has noticed", lambda: line.is_over)
        await until_so("the bat has no line", self._has_no_line, LINE_SECS)

    async def awake(self) -> None:
        """Starts the bat's gateway, if it is off."""
        if not any(line.is_up for line in self.bat.tap.lines):
            await self.bat.start()

    async def _has_no_line(self) -> bool:
        return (await self.desk.ask("wake", "status", *self.bat.whose))["line"] == "none"

    async def called(self, calls: int) -> None:
        """Waits until the bat gets one more wake call than this number, and checks that no other agent gets one."""
        await until("the bat is called", lambda: len(self.waker.calls) > calls, CALL_SECS)
        who = set(self.waker.calls[calls:])
        require(who == {f"/{self.bat.name}"}, f"{who} were called")

    def question(self) -> tuple[str, str]:
        """Returns a word to ask the bat about, and its planned answer."""
        word = self.bat.model.word()
        reply = f"of {word} I know that it hunts by night"
        self.bat.model.plans[word] = Plan(reply=reply)
        return word, reply

    async def uses(self, tool: str, **arguments: Any) -> str:
        """Ann asks about a word, and the owl uses a tool of the desk for it; returns the word."""
        word = self.owl.model.word(Plan(call=use(tool, arguments)))
        await self.asks("ann", word)
        await until(f"the owl thinks about {word}", lambda: bool(self.owl.model.turns_of(word)), ANSWER_SECS)
        return word

    async def writes(self, tool: str, about: str, **more: Any) -> str:
        """Ann asks about a word, and the owl writes to the bat about another; returns the first word."""
        return await self.uses(tool, agent=self.address, message=f"tell me about {about}", **more)

    async def came(self, word: str) -> str:
        """Waits until the owl's model has the result of the tool for a word, and the owl has reported it. A client
        that gets a message before it has sent its answer loses the message."""
        await until(
            f"something comes of {word}", lambda: bool(self._results(word)), ANSWER_SECS * 3
        )
        await until(f"the owl answers about {word}", lambda: self.owl.has_said(word), ANSWER_SECS)
        return given(self._results(word)[0])

    def _results(self, word: str) -> list[str]:
        return [result for turn in self.owl.model.turns_of(word) for result in turn.results]

    async def asks(self, person: str, word: str) -> None:
        """A person asks an agent about a word; returns when the desk has acknowledged it."""
        await self.rests()
        source = {"user_id": person, "user_name": person.title()}
        letter = self.platform.write(f"tell me about {word}", f"dm-of-{person}", source)
        await self.platform.post_until_taken(*letter)

    async def rests(self) -> None:
        """Waits until all lines were silent for a moment, as long as a person takes to write."""

        def rest() -> bool:
            heard_at = max(agent.tap.heard_at for agent in (self.owl, self.bat))
            return time.monotonic() - heard_at > REST_SECS

        await until("the lines rest", rest, ANSWER_SECS)

    def answers(self, person: str, text: str) -> list[str]:
        """Returns the answers to a person that contain this text."""
        return [said for said in self.platform.messages(f"dm-of-{person}") if text in said]

    async def is_answered(self, person: str, text: str) -> None:
        """Waits until a person gets an answer with this text."""
        what = f"{person} is answered with {text}"
        await until(what, lambda: bool(self.answers(person, text)), ANSWER_SECS)

    async def goes_on(self, person: str, agent: Agent) -> None:
        """A person asks an agent, and gets an answer."""
        word = agent.model.word()
        await self.asks(person, word)
        await self.is_answered(person, f"the answer to {word}")

    async def asked_once(self, word: str) -> None:
        """Checks that the bat got one letter about a word, that its model got one request, and that no more follow."""

        def once() -> bool:
            return (len(letters(self.bat, word)), len(self.bat.model.turns_of(word))) == (1, 1)

        await until(f"the bat is asked about {word}", lambda: bool(self._turns(word)), ANSWER_SECS)
        handed = len(letters(self.bat, word))
        require(once(), f"{handed} letters and {len(self._turns(word))} turns about {word}")
        await stays(f"one letter and one turn about {word}", once, QUIET_SECS)
        said = letters(self.bat, word)[0].body["event"]
        require(said["letter"]["from"] == self.owl.name, f"a letter of {said['letter']}")

    def _turns(self, word: str) -> list[Turn]:
        return self.bat.model.turns_of(word)


class Apart(Stage):
    """The same with the bat of another tenant, which the owl knows only by its id."""

    other = ("dusk", "bat")

    async def _make_other(self) -> None:
        await self.desk.ask("tenant", "create", self.bat.tenant)
        made = await self.desk.ask("agent", "create", "--tenant", self.bat.tenant, self.bat.name)
        self.address = made["agent_id"]
        await self.desk.ask("bot", "share", "--tenant", self.owl.tenant, "--bot", self.desk.bot)
        await self._bind("ann", self.owl)

    async def grant(self, own: Agent, peer: Agent) -> None:
        """Grants letters between an agent and a peer, for one side."""
        await self._granting("letters", own, peer)

    async def take_back(self, own: Agent, peer: Agent) -> None:
        """Revokes one side's grant."""
        await self._granting("no-letters", own, peer)

    async def _granting(self, what: str, own: Agent, peer: Agent) -> None:
        whom = ("--peer-tenant", peer.tenant, "--peer-agent", peer.name)
        await self.desk.ask("grant", what, *own.whose, *whom)


def use(tool: str, arguments: dict[str, Any]) -> Call:
    """Returns the model's call of a tool of the desk. 0.19.0 shows the model the tool. A later client hides the tools
    of MCP servers behind its own tool, unless its owner configures otherwise."""
    name = f"mcp__nightdesk__{tool}"
    if IS_0_19:
        return Call(name, arguments)
    return Call("tool_call", {"name": name, "arguments": arguments})


def given(result: str) -> str:
    """Returns the result of a tool, without the client's wrapper."""
    return result[result.index("{") : result.rindex("}") + 1]


def letters(agent: Agent, word: str) -> list[Frame]:
    """Returns the letters about a word that an agent received, in order."""
    frames = [frame for line in agent.tap.lines for frame in line.desk.of("inbound")]
    events = [(frame, frame.body["event"]) for frame in frames]
    return [
        frame
        for frame, event in events
        if event["source"]["platform"] == DESK and word in event["text"]
    ]
