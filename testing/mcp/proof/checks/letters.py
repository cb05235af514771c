"""Tools for letters: a repeated call is the same letter."""

from typing import Any

from proof.peer import turned
from proof.stage import Stage


async def all_checks(stage: Stage) -> None:
    """Calls each tool twice."""
    await agents(stage)
    await notify(stage)
    await wake(stage)
    await exchange(stage)
    await when_nobody_replies(stage)


async def agents(stage: Stage) -> None:
    """Lists the agents that can be reached, and their states."""
    first, again = await stage.owl.twice("list_agents")
    stage.tally.same("list_agents: the same at both nodes", first, again)
    found = {agent["agent_id"]: agent["status"] for agent in first["agents"]}
    stage.tally.check("list_agents: the tenant's own", set(found) == {"owl", "bat"}, found)
    is_up = found.get("bat") in ("idle", "active")
    stage.tally.check("list_agents: who is up is said to be", is_up, found)
    stage.tally.check("list_agents: who is not sleeps", found.get("owl") == "asleep", found)


async def notify(stage: Stage) -> None:
    """Sends a letter without waiting for a reply."""
    asked = {"agent": "bat", "message": "the moon is up", "dispatch_id": "notify-1"}
    first, again = await stage.owl.twice("notify", **asked)
    ids = [one["dispatched"][0]["delivered"]["delivery_id"] for one in (first, again)]
    stage.tally.same("notify: again is the same letter", *ids)
    await is_one_letter(stage, "notify", asked)


async def wake(stage: Stage) -> None:
    """Sends a letter that wakes the agent."""
    asked = {"agent": "bat", "message": "time to hunt", "dispatch_id": "wake-1"}
    first, again = await stage.owl.twice("wake", **asked)
    woken = [one["dispatched"][0]["woken"]["woken"] for one in (first, again)]
    stage.tally.check("wake: who is up is woken", woken == [True, True], woken)
    await is_one_letter(stage, "wake", asked)


async def exchange(stage: Stage) -> None:
    """Sends a letter and waits for the reply."""
    asked = {"agent": "bat", "message": "how many moths", "dispatch_id": "exchange-1"}
    first, again = await stage.owl.twice("exchange", **asked)
    reply = first["response"]["content"]
    want = turned(asked["message"])
    stage.tally.check("exchange: the answer of the other agent", reply == want, first)
    who = first["response"]["agent_id"]
    stage.tally.check("exchange: it says who replied", who == "bat", first)
    stage.tally.same("exchange: again is the same reply", first, again)
    await is_one_letter(stage, "exchange", asked)


async def is_one_letter(stage: Stage, tool: str, asked: dict[str, Any]) -> None:
    """Two identical calls are one letter, for the sender and for the recipient."""
    await stage.bat.is_handed(asked["message"])
    handed = stage.bat.letters_of(asked["dispatch_id"])
    stage.tally.check(f"{tool}: one letter is handed over", len(handed) == 1, handed)
    stage.tally.same(f"{tool}: it says what was to be said", handed[0]["text"], asked["message"])
    by = handed[0]["letter"]["from"]
    stage.tally.check(f"{tool}: it is from who was proven to send it", by == "owl", handed)
    sent = (await stage.owl.get("/v1/letters"))["letters"]
    kept = [one for one in sent if one["dispatch_id"] == asked["dispatch_id"]]
    stage.tally.check(f"{tool}: one letter is kept", len(kept) == 1, kept)


async def when_nobody_replies(stage: Stage) -> None:
    """The owl sleeps, so it does not answer its own letter."""
    asked = {"agent": "owl", "message": "who", "timeout_ms": 300, "dispatch_id": "exchange-2"}
    first, again = await stage.owl.twice("exchange", **asked)
    stage.tally.same("exchange: it times out once, for whoever looks", first, again)
    said = getattr(first, "message", "")
    stage.tally.check("exchange: that nobody replied is an error", "no reply" in said, first)
