"""The causes of each kind of alert on a real desk, and their cures.

Where a cause lasts for an hour or a day by its nature, the cure lets time pass: it ages the rows, as the tests of the store do.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nightdesk import Desk as AgentDesk
from nightdesk import Entry
from props.judge import until, until_so
from stand import Stand
from ways import make_certificate

# A text that no frame of an agent can hold.
TOO_LONG = "x" * 700_000
CALLS = 11
NODE_SECS = 90

# The time within which the message must come, from the moment at which the cause is there or gone.
QUICK, SLOW = (30.0, 100.0), (200.0, 260.0)


@dataclass(frozen=True)
class Kind:
    """A kind of alert."""

    name: str
    cause: Callable[[Stand], Awaitable[None]]
    cure: Callable[[Stand], Awaitable[None]]
    limits: tuple[float, float]


async def park(stand: Stand) -> None:
    """An entry that no agent can be given is parked at once."""
    await stand.platform.say(TOO_LONG, chat="long")


async def drop_parked(stand: Stand) -> None:
    """The operator drops the entry."""
    listed = await stand.desk.ask(*stand.agent("inbox", "list"))
    for entry in listed["parked"]:
        if entry["reason"] == "unsendable":
            seq = str(entry["seq"])
            await stand.post(f"tenants/night/agents/owl/inbox/{seq}/drop", confirm=seq)


async def fill_inbox(stand: Stand) -> None:
    """An inbox for one entry gets two."""
    await stand.desk.ask("tenant", "quota", "--tenant", "night", "pending-entries=1")
    await stand.platform.say("first", chat="talk")
    await stand.platform.say("second", chat="talk")


async def raise_quota(stand: Stand) -> None:
    """The operator raises the quota."""
    await stand.desk.ask("tenant", "quota", "--tenant", "night", "pending-entries=1000")


async def post_nonsense(stand: Stand) -> None:
    """The platform posts an event that is signed and cannot be read."""
    body = json.dumps({"id": "nonsense", "event": {"text": "x", "source": 5}}).encode()
    await stand.platform.post("nonsense", body)


async def age_quarantine(stand: Stand) -> None:
    """An hour passes."""
    await stand.sql("update quarantined set at = at - interval '1 hour'")


async def revoke_token(stand: Stand) -> None:
    """The platform refuses the bot's token for three minutes."""
    stand.door.token_is_revoked = True

    async def is_noted() -> bool:
        return await stand.holds("exists (select from bot_hearings where unheard_since is not null)")

    await until_so("the desk notes that the bot is deaf", is_noted, NODE_SECS)
    await stand.sql("update bot_hearings set unheard_since = unheard_since - interval '3 minutes'")

    async def is_told() -> bool:
        return await stand.holds("exists (select from bot_hearings where told_at is not null)")

    await until_so("the desk knows that the bot is deaf for long", is_told, NODE_SECS)


async def restore_token(stand: Stand) -> None:
    """The platform takes the token again."""
    stand.door.token_is_revoked = False

    async def is_heard() -> bool:
        return await stand.holds("not exists (select from bot_hearings where told_at is not null)")

    await until_so("the bot hears again", is_heard, NODE_SECS)


async def call_in_vain(stand: Stand) -> None:
    """The desk calls an agent that does not come. Between two calls, time passes."""
    await stand.desk.ask(*stand.agent("agent", "wake-url"), f"{stand.door.url}/wake")
    for calls in range(1, CALLS + 1):
        await until(f"call {calls}", lambda calls=calls: stand.door.wakes >= calls, NODE_SECS)
        await asyncio.sleep(1)
        await stand.sql("update wakes set due_at = now(), rests_until = now() where state = 'due'")


async def dial_in(stand: Stand) -> None:
    """The agent dials in, and takes its entries."""
    stand.agent_task = asyncio.create_task(run_agent(stand))

    async def is_up() -> bool:
        return (await stand.desk.ask(*stand.agent("wake", "status")))["line"] != "none"

    await until_so("the agent is up", is_up, NODE_SECS)


async def run_agent(stand: Stand) -> None:
    """An agent that answers each message with its text."""

    async def echo(entry: Entry) -> None:
        await entry.reply(entry.text[:100])

    gateway = stand.gateway
    await AgentDesk(stand.desk.back.url, gateway.name, gateway.secret).run(echo)


async def refuse_fire(stand: Stand) -> None:
    """The callback of a job refuses its fire."""
    words = [*stand.agent("schedule", "add"), "tidy-up", "--in", "1s"]
    await stand.desk.ask(*words, "--callback", f"{stand.door.url}/api/cron/fire")

    async def is_missed() -> bool:
        return await stand.holds("exists (select from fires where state = 'missed')")

    await until_so("the fire is missed", is_missed, NODE_SECS)


async def age_fire(stand: Stand) -> None:
    """An hour passes."""
    await stand.sql("update fires set ended_at = ended_at - interval '1 hour' where state = 'missed'")


async def lose_commits(stand: Stand) -> None:
    """The operator says that the database lost commits."""
    await stand.desk.ask("history", "new", "--reason", "proof of alerts")


async def age_history(stand: Stand) -> None:
    """A day passes."""
    await stand.sql("update history set begun_at = begun_at - interval '1 day'")


async def use_quota_up(stand: Stand) -> None:
    """A tenant with one agent may have one."""
    await stand.desk.ask("tenant", "quota", "--tenant", "night", "agents=1")


async def raise_agents(stand: Stand) -> None:
    """The operator raises the quota."""
    await stand.desk.ask("tenant", "quota", "--tenant", "night", "agents=50")


async def serve_old_certificate(stand: Stand) -> None:
    """A node serves a certificate that is valid for five days."""
    await stand.start_probe(days=5)


async def renew_certificate(stand: Stand) -> None:
    """The operator replaces the files."""
    await make_certificate(stand.path, stand.certificate, stand.key, 90)


async def ask_for_space(stand: Stand) -> None:
    """The same node has less space than it should have."""
    assert stand.probe is not None and stand.probe.is_up


async def be_content(stand: Stand) -> None:
    """The operator lowers the limit."""
    await stand.restart_probe(disk_free_mib=1)


# In the order in which they are caused: a cause does not remove an earlier one.
KINDS = (
    Kind("expiring-key", serve_old_certificate, renew_certificate, SLOW),
    Kind("disk", ask_for_space, be_content, SLOW),
    Kind("parked", park, drop_parked, QUICK),
    Kind("inbox-full", fill_inbox, raise_quota, QUICK),
    Kind("quarantined", post_nonsense, age_quarantine, QUICK),
    Kind("missed-fire", refuse_fire, age_fire, QUICK),
    Kind("quota", use_quota_up, raise_agents, SLOW),
    Kind("deaf-bot", revoke_token, restore_token, QUICK),
    Kind("failing-wake", call_in_vain, dial_in, QUICK),
    Kind("lost-commits", lose_commits, age_history, QUICK),
)
