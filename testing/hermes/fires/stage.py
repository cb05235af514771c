"""The environment of a scenario: a desk, its agents, and the traffic between them."""

import asyncio
import time
from pathlib import Path
from typing import Any

import props.stage
from fires.agent import Agent
from fires.door import Door, due
from fires.portal import LIST, Portal
from fires.tap import Call
from fires.tokens import claims
from props.client import IS_0_19
from props.judge import require, stays, until
from props.postgres import Cluster
from props.process import free_port

# All agents are on one host here.
RATES = """
[outside.rates."127.0.0.1"]
per_second = 1000
at_once = 100
"""
# The client reads a sixth field as seconds.
EVERY_FEW_SECS = "* * * * * */4"
# The desk promises a second; test machines are busy.
LATE_SECS_MAX = 3
RUN_SECS = 90
# Several times the delay between the first and the second try.
QUIET_SECS = 6


class Stage(props.stage.Stage):
    """A desk at the portal's address, and an agent whose machine is up. No gateway dials the desk."""

    def __init__(self, folder: Path, cluster: Cluster, platform: str) -> None:
        super().__init__(folder, cluster, platform)
        self.portal = Portal(folder / "portal.jsonl")
        self.door = Door(folder / "door.jsonl")
        self.owl: Agent

    async def set_up(self, mutant: str | None, own_cluster: bool) -> None:
        """Sets up everything, including an agent that can receive fires."""
        await super().set_up(mutant, own_cluster)
        self.portal.lead_to(*(node.port for node in self.desk.nodes))
        self._ends.push_async_callback(self.door.close)
        await self.door.open(self.desk.waker_port)
        self.owl = await self.agent("night", "owl", self.desk.agent)
        # Measures the time of a command.
        await asyncio.gather(self.owl.start(), self.owl.cron("list"))
        if not IS_0_19:
            # The gateway of a later client arms its jobs when it starts: a job that is created meanwhile is armed
            # twice.
            await until("the gateway asks for its jobs", lambda: bool(self.portal.asked(LIST)), RUN_SECS)

    async def agent(self, tenant: str, name: str, agent: str) -> Agent:
        """Returns the machine of an agent that the desk knows. It is off."""
        made = Agent(self._folder, name, agent, self.portal.url)
        self._ends.push_async_callback(made.killed)
        made.set_up(self.door.lead_to(name, made.door), await self.session(tenant, name))
        return made

    async def another(self, tenant: str, name: str) -> Agent:
        """Creates a new agent and its machine."""
        made = await self.desk.ask("agent", "create", "--tenant", tenant, name)
        return await self.agent(tenant, name, made["agent_id"])

    async def session(self, tenant: str, name: str) -> dict[str, Any]:
        """Returns the stored login of an agent with a new session."""
        words = ("--tenant", tenant, "--agent", name)
        return (await self.desk.ask("issuer", "session", *words))["auth"]

    async def agent_token(self, tenant: str, name: str) -> str:
        """Returns a token of an agent."""
        words = ("--tenant", tenant, "--agent", name)
        return (await self.desk.ask("issuer", "token", *words))["token"]

    async def _settings(self) -> str:
        # The desk's tokens name its public URL, so that is the portal's from the start.
        self._ends.push_async_callback(self.portal.close)
        await self.portal.open(free_port())
        self.public_url = self.portal.url
        return RATES

    async def _register_bot(self) -> None:
        """No person writes here."""

    async def told(self, job: str, times: int = 1) -> list[Call]:
        """Waits until the agent received a number of calls for a job."""
        what = f"{job} is told {times} times"
        secs = self._ahead_secs(job) + RUN_SECS
        await until(what, lambda: len(self.door.fires(job)) >= times, secs)
        return self.door.fires(job)

    def _ahead_secs(self, job: str) -> float:
        """Returns the seconds until a job is due, as it was armed last."""
        return max(0, due(self.portal.arms(job)[-1]) - time.time())

    async def ran(self, name: str, times: int = 1, secs: float = RUN_SECS) -> None:
        """Waits until a job ran a number of times."""
        await until(f"{name} runs", lambda: len(self.owl.runs(name)) >= times, secs)

    async def just_once(self, name: str, job: str, tries: int = 1) -> None:
        """Checks that a job ran once, after this number of tries, and that no more follow."""
        await self.ran(name)
        await self.no_more(name, job, tries, 1)

    async def each_once(self, name: str, job: str, times: int) -> None:
        """Checks that this number of instants of a recurring job fire, in order and each with its own fire, and that
        the job runs once for each."""
        calls = await self.told(job, times)
        await self.ran(name, times)
        instants = [due(call) for call in calls]
        require(instants == sorted(set(instants)), f"told of {instants}")
        fires = {claims(call.bearer)["jti"] for call in calls}
        require(len(fires) == times, f"{times} instants, and {len(fires)} fires")
        await self.no_more(name, job, times, times)

    async def silent(self, name: str, job: str) -> None:
        """Waits until the instant of a job has passed, and checks that it did not fire and did not run."""
        require(self._ahead_secs(job) > 0, f"{name} came to pass too soon to be stopped")
        await stays(f"{name} is silent", lambda: not self.door.fires(job), self._ahead_secs(job))
        await self.no_more(name, job, 0, 0)

    async def no_more(self, name: str, job: str, tries: int, runs: int) -> None:
        """Checks that the numbers of calls and runs of a job are these, and stay so."""

        def so() -> bool:
            return (len(self.door.fires(job)), len(self.owl.runs(name))) == (tries, runs)

        told, ran = len(self.door.fires(job)), len(self.owl.runs(name))
        require(so(), f"{name} was told {told} times and ran {ran} times")
        await stays(f"{name} is told {tries} times and runs {runs} times", so, QUIET_SECS)

    def in_time(self, call: Call) -> None:
        """Checks that the call came when the job was due, or when it was armed if that was later."""
        armed = [arm.at for arm in self.portal.arms(call.body["job_id"]) if is_of(arm, call)]
        require(bool(armed), f"told of {call.body}, which was never armed")
        late_secs = call.at - max(due(call), armed[-1])
        require(late_secs < LATE_SECS_MAX, f"told {late_secs:.2f} s late of {call.body}")


def is_of(arm: Call, fire: Call) -> bool:
    """Returns true if the job was armed with the instant of the fire."""
    return arm.body["fire_at"] == fire.body["fire_at"]
