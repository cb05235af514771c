"""What a scenario works with: a desk, agents of its, and all that passes between them."""

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

# Agents are on one host here.
RATES = """
[outside.rates."127.0.0.1"]
per_second = 1000
at_once = 100
"""
# The client reads a sixth field as seconds.
EVERY_FEW_SECS = "* * * * * */4"
# The desk promises a second; machines that tests run on are busy.
LATE_SECS_MAX = 3
RUN_SECS = 90
# Several times what lies between a first try and the next.
QUIET_SECS = 6


class Stage(props.stage.Stage):
    """A desk that is found at the portal, and an agent whose machine is up. No gateway dials the desk."""

    def __init__(self, folder: Path, cluster: Cluster, platform: str) -> None:
        super().__init__(folder, cluster, platform)
        self.portal = Portal(folder / "portal.jsonl")
        self.door = Door(folder / "door.jsonl")
        self.owl: Agent

    async def set_up(self, planted: str | None, own_cluster: bool) -> None:
        """Makes everything up to an agent that may be told."""
        await super().set_up(planted, own_cluster)
        self.portal.lead_to(*(node.port for node in self.desk.nodes))
        self._ends.push_async_callback(self.door.close)
        await self.door.open(self.desk.waker_port)
        self.owl = await self.agent("night", "owl", self.desk.agent)
        # It learns how long a command takes.
        await asyncio.gather(self.owl.start(), self.owl.cron("list"))
        if not IS_0_19:
            # The gateway of a later client arms its jobs when it starts: a job that is made meanwhile is armed twice.
            await until("the gateway asks for its jobs", lambda: bool(self.portal.asked(LIST)), RUN_SECS)

    async def agent(self, tenant: str, name: str, agent: str) -> Agent:
        """The machine of an agent that the desk knows. It is off."""
        made = Agent(self._folder, name, agent, self.portal.url)
        self._ends.push_async_callback(made.killed)
        made.set_up(self.door.lead_to(name, made.door), await self.session(tenant, name))
        return made

    async def another(self, tenant: str, name: str) -> Agent:
        """A new agent, and its machine."""
        made = await self.desk.ask("agent", "create", "--tenant", tenant, name)
        return await self.agent(tenant, name, made["agent_id"])

    async def session(self, tenant: str, name: str) -> dict[str, Any]:
        """What an agent keeps of a new session of its."""
        words = ("--tenant", tenant, "--agent", name)
        return (await self.desk.ask("issuer", "session", *words))["auth"]

    async def agent_token(self, tenant: str, name: str) -> str:
        """A token with which its bearer speaks for an agent."""
        words = ("--tenant", tenant, "--agent", name)
        return (await self.desk.ask("issuer", "token", *words))["token"]

    async def _settings(self) -> str:
        # It vouches for itself by the URL it is found at, so that is the portal's from the start.
        self._ends.push_async_callback(self.portal.close)
        await self.portal.open(free_port())
        self.public_url = self.portal.url
        return RATES

    async def _register_bot(self) -> None:
        """Nobody writes here."""

    async def told(self, job: str, times: int = 1) -> list[Call]:
        """Waits until the agent was told so often of a job."""
        what = f"{job} is told {times} times"
        secs = self._ahead_secs(job) + RUN_SECS
        await until(what, lambda: len(self.door.fires(job)) >= times, secs)
        return self.door.fires(job)

    def _ahead_secs(self, job: str) -> float:
        """How long it is until a job is due, as it was armed last."""
        return max(0, due(self.portal.arms(job)[-1]) - time.time())

    async def ran(self, name: str, times: int = 1, secs: float = RUN_SECS) -> None:
        """Waits until a job ran so often."""
        await until(f"{name} runs", lambda: len(self.owl.runs(name)) >= times, secs)

    async def just_once(self, name: str, job: str, tries: int = 1) -> None:
        """A job ran once, and was told so often, and no more comes."""
        await self.ran(name)
        await self.no_more(name, job, tries, 1)

    async def each_once(self, name: str, job: str, times: int) -> None:
        """So many instants of a recurring job are told, in order and each as a fire of its own, and
        the job runs once for each."""
        calls = await self.told(job, times)
        await self.ran(name, times)
        instants = [due(call) for call in calls]
        require(instants == sorted(set(instants)), f"told of {instants}")
        fires = {claims(call.bearer)["jti"] for call in calls}
        require(len(fires) == times, f"{times} instants, and {len(fires)} fires")
        await self.no_more(name, job, times, times)

    async def silent(self, name: str, job: str) -> None:
        """The instant of a job passes. It is not told and does not run."""
        require(self._ahead_secs(job) > 0, f"{name} came to pass too soon to be stopped")
        await stays(f"{name} is silent", lambda: not self.door.fires(job), self._ahead_secs(job))
        await self.no_more(name, job, 0, 0)

    async def no_more(self, name: str, job: str, tries: int, runs: int) -> None:
        """A job was told so often and ran so often, and so it stays."""

        def so() -> bool:
            return (len(self.door.fires(job)), len(self.owl.runs(name))) == (tries, runs)

        told, ran = len(self.door.fires(job)), len(self.owl.runs(name))
        require(so(), f"{name} was told {told} times and ran {ran} times")
        await stays(f"{name} is told {tries} times and runs {runs} times", so, QUIET_SECS)

    def in_time(self, call: Call) -> None:
        """The agent was told when it was due, or when it was armed if that was later."""
        armed = [arm.at for arm in self.portal.arms(call.body["job_id"]) if is_of(arm, call)]
        require(bool(armed), f"told of {call.body}, which was never armed")
        late_secs = call.at - max(due(call), armed[-1])
        require(late_secs < LATE_SECS_MAX, f"told {late_secs:.2f} s late of {call.body}")


def is_of(arm: Call, fire: Call) -> bool:
    """Whether a job was armed with the very instant that a fire is of."""
    return arm.body["fire_at"] == fire.body["fire_at"]
