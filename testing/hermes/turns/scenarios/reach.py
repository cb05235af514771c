"""One bot for the agents of two tenants: people reach their own agent or none."""

from props.client import IS_0_19
from props.judge import require, stays, until
from turns.agent import Agent
from turns.scenarios import scenario
from turns.shared import Place, Shared

BILL = "reach"
DISCORD = ("discord",)
ROOM = Place("the-room", scope="guild-1")
# The desk wakes an agent at once; this is several times that.
NO_CALL_SECS = 3
REVOKED = 4401
REVOKE_SECS = 2
# The client checks once a second if it was revoked.
DISABLED_SECS = 15
# Several times the client's first waits between dials.
NO_DIAL_SECS = 8
DIAL_SECS = 60


@scenario(secs=60, bill=BILL, platforms=DISCORD, stage=Shared)
async def two_people_in_one_room(stage: Shared) -> None:
    """Ann's agent and Bob's belong to two tenants and share a bot. Both people write in one room, in turns. Each gets
    an answer there from their own agent, and the other agent never sees the message."""
    people = {"ann": stage.owl, "bob": stage.bat}
    for person, agent in people.items():
        await stage.link(person, agent)
    for _ in range(2):
        words = {person: await stage.asks(person, ROOM) for person in people}
        for person, word in words.items():
            await stage.is_answered(ROOM, word)
            only(stage, people[person], word)


def only(stage: Shared, agent: Agent, word: str) -> None:
    """Checks that an agent got the word once and answered, and that the other agents did not see it."""
    turns = len(agent.model.turns_of(word))
    require(turns == 1, f"{agent.name} was asked about {word} {turns} times")
    require(agent.has_said(word), f"not {agent.name} has answered about {word}")
    for other in stage.agents:
        knows = other is not agent and (other.was_told(word) or other.has_said(word))
        require(not knows, f"{other.name} heard of {word}, which is for {agent.name}")


@scenario(secs=60, bill=BILL, platforms=DISCORD, stage=Shared)
async def stranger_reaches_nobody(stage: Shared) -> None:
    """Zoe is not linked. She writes to the bot and in the room, while one agent is up and the other sleeps: the desk
    delivers nothing, wakes no agent, and sends Zoe nothing, not even a hint that an agent exists. The platform gets
    the same response as for Bob, who wakes his agent and gets an answer."""
    home = await stage.link("bob", stage.bat)
    anns = await stage.link("ann", stage.owl)
    await stage.bat.killed()
    calls, told = len(stage.waker.calls), len(stage.told(ROOM))
    zoes = Place("dm-of-zoe")
    words = [await stage.asks("zoe", place) for place in (zoes, ROOM)]
    await stays("nobody is called", lambda: len(stage.waker.calls) == calls, NO_CALL_SECS)

    asked = await stage.asks("bob", home)
    await until("bat is called", lambda: stage.waker.calls[calls:] == ["/bat"])
    await stage.bat.start()
    await stage.is_answered(home, asked)
    # The desk delivers in order, so no message of Zoe is still in flight.
    await stage.is_answered(anns, await stage.asks("ann", anns))
    for agent in stage.agents:
        heard = [word for word in words if agent.was_told(word)]
        require(not heard, f"{agent.name} heard of {heard}, which a stranger said")
    require(stage.told(zoes) == [], f"a stranger was told {stage.told(zoes)}")
    require(len(stage.told(ROOM)) == told, f"a stranger was told {stage.told(ROOM)[told:]}")
    statuses = {answer.status for answer in stage.platform.answers}
    require(statuses == {200}, f"the platform was told {statuses}")


@scenario(secs=60, bill=BILL, platforms=DISCORD, stage=Shared)
async def link_by_a_code(stage: Shared) -> None:
    """Kim sends the code that `nightdesk link create` printed. The desk accepts it and confirms, and no agent sees
    it; that agent, and no other, answers Kim's next message. For a used or unknown code the desk reports this and
    names no agent. Unlinked, Kim reaches no agent again."""
    kims, lees = Place("dm-of-kim"), Place("dm-of-lee")
    before = await stage.asks("kim", kims)
    code = await stage.code_for(stage.bat)
    await stage.says("kim", kims, code)
    await until("Kim is answered", lambda: stage.told(kims) != [])
    require("linked to bat" in stage.told(kims)[0], f"Kim was told {stage.told(kims)}")
    word = await stage.asks("kim", kims)
    await stage.is_answered(kims, word)
    only(stage, stage.bat, word)

    for refused in (code, "/link 00000-00000"):
        told = len(stage.told(lees))
        await stage.says("lee", lees, refused)
        await until("Lee is answered", lambda: len(stage.told(lees)) > told)
    said = " ".join(stage.told(lees))
    require("already used" in said and "do not know" in said, f"Lee was told {said}")
    names = [name for agent in stage.agents for name in (agent.name, agent.tenant) if name in said]
    require(not names, f"Lee was told of {names}")
    unlinked = await stage.asks("lee", lees)

    await stage.unlink("kim", stage.bat)
    after = await stage.asks("kim", kims)
    # The desk delivers to an agent in order.
    again = await stage.link("bob", stage.bat)
    await stage.is_answered(again, await stage.asks("bob", again))
    nobodys = [before, unlinked, after, code.removeprefix("/link ")]
    for agent in stage.agents:
        heard = [word for word in nobodys if agent.was_told(word)]
        require(not heard, f"{agent.name} heard of {heard}, which is for nobody")


@scenario(secs=90, bill=BILL, platforms=DISCORD, stage=Shared)
async def deprovisioned_is_seen_as_disabled(stage: Shared) -> None:
    """An agent is deprovisioned. Its line is closed with 4401 at once, and its client shows its relay as disabled and
    does not dial again; 0.19.0 stays up, a later client without another platform ends. A restart changes nothing.
    Bob, who was linked to it, reaches no agent, wakes none and gets no message; Ann's agent is not affected."""
    bobs, anns = await stage.link("bob", stage.bat), await stage.link("ann", stage.owl)
    await stage.is_answered(bobs, await stage.asks("bob", bobs))
    line, calls = stage.bat.tap.lines[-1], len(stage.waker.calls)
    taken = await stage.desk.ask("agent", "deprovision", *stage.bat.whose)
    require(taken["gateways_revoked"] == 1, f"the command says {taken}")
    await until("the line is closed", lambda: line.desk.closed_at is not None, REVOKE_SECS)
    require(line.desk.closed_with == REVOKED, f"closed with {line.desk.closed_with}")

    hermes, told = stage.bat.hermes, len(stage.told(bobs))
    await until(
        "the client shows that it is disabled",
        lambda: hermes.relay_state()["state"] == "disabled",
        DISABLED_SECS,
    )
    shown = hermes.relay_state()
    require(shown["error_code"] == "relay_disabled", f"the client shows {shown}")
    word = await stage.asks("bob", bobs)
    await stays(
        "no new dial, no call, and 0.19.0 stays up",
        lambda: stage.bat.tap.lines[-1] is line
        and len(stage.waker.calls) == calls
        and not (IS_0_19 and hermes.is_over),
        NO_DIAL_SECS,
    )

    await hermes.killed()
    await hermes.start()
    lines = stage.bat.tap.lines
    await until(
        "the next start is told the same",
        lambda: lines[-1] is not line and lines[-1].desk.closed_with == REVOKED,
        DIAL_SECS,
    )
    await stage.is_answered(anns, await stage.asks("ann", anns))
    require(not stage.bat.was_told(word), "a deprovisioned agent was handed a message")
    require(not any(line.is_up for line in lines), "a deprovisioned agent has a line")
    require(len(stage.told(bobs)) == told, f"Bob was told {stage.told(bobs)[told:]}")
