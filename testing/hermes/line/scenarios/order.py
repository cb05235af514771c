"""Messages arrive, in order, not too early and not too many at once."""

from line.remote import Client, one_entry_each
from line.scenarios import scenario
from line.stage import Stage
from props.client import IS_0_19, arrive
from props.judge import in_order, once, require, stays, until

WINDOW_ENTRIES = 12
# The desk waits 3 s from its own sending of the descriptor; the client may see that a little late.
HOLD_BACK_SECS_MIN = 2.5
QUICK_REDIAL_SECS = 1.5
# A client that reacts to each message makes three thousand of these calls, and an agent may make thirty a second.
THOUSAND_SECS = 90 if IS_0_19 else 180


@scenario(secs=8, chosen=True)
async def ten_messages_in_order(stage: Stage) -> None:
    """Ten messages reach the agent's handler, once each, in order, with their texts."""
    client = await stage.connected()
    said = await stage.platform.say_many(10)
    await arrive(client.took, said)

    in_order(client.handed(), said)
    once(client.took(), said)
    one_entry_each(client)
    first = client.of("handed")[0]
    require(first["text"] == f"text of {said[0]}", f"the text became {first['text']!r}")
    require(first["chat"] == f"chat-{said[0]}", f"the chat became {first['chat']!r}")
    known = "discord" if stage.platform.name == "discord" else "relay"
    require(first["platform"] == known, f"the client took it for {first['platform']}")
    source = client.frames("inbound")[0]["source"]
    require(source["platform"] == stage.platform.name, f"the frame said {source['platform']}")


@scenario(secs=12, chosen=True)
async def message_in_the_start_up_window(stage: Stage) -> None:
    """A gateway that has just started acks messages that come before it is up, and may lose them. So the desk
    delivers nothing in the first 3 s after the descriptor, neither waiting nor new messages. The same holds if it
    dials again soon: it may be a new process. It does not hold if the desk closed the line to restart."""
    waiting = await stage.platform.say()
    client = await stage.connected()
    live = await stage.platform.say()
    await arrive(client.took, [waiting, live])

    in_order(client.handed(), [waiting, live])
    after = secs_after_descriptor(client, waiting, line=1)
    require(after >= HOLD_BACK_SECS_MIN, f"handed over {after:.2f} s after the descriptor")

    held = await hold_one(stage, client)
    await client.ask("drop")
    after = await secs_until_it_comes_again(client, held)
    require(after >= HOLD_BACK_SECS_MIN, f"handed over {after:.2f} s after a re-dial")

    held = await hold_one(stage, client)
    await stage.desk.stop()
    await stage.desk.start()
    after = await secs_until_it_comes_again(client, held)
    gap = client.frames("descriptor")[-1]["at"] - client.of("closed")[-1]["at"]
    held_back = after >= HOLD_BACK_SECS_MIN
    require(gap > QUICK_REDIAL_SECS or not held_back, f"held back for {after:.2f} s on a restart")


async def hold_one(stage: Stage, client: Client) -> str:
    """Sends a message that stays in the client's handler."""
    await client.ask("hold", on=True)
    held = await stage.platform.say()
    await until("it is held", lambda: held in client.handed())
    return held


async def secs_until_it_comes_again(client: Client, held: str) -> float:
    """Releases the handler, and waits for the message on the next line; returns the seconds from the descriptor to
    the message."""
    await client.ask("hold", on=False)
    await until("it comes again", lambda: client.handed().count(held) == 2)
    return secs_after_descriptor(client, held, client.line())


def secs_after_descriptor(client: Client, message: str, line: int) -> float:
    """Returns the seconds from the line's descriptor to the message's frame."""
    descriptor = next(r["at"] for r in client.frames("descriptor") if r["line"] == line)
    frames = [r for r in client.frames("inbound") if r["line"] == line]
    return next(r["at"] for r in frames if r["message"] == message) - descriptor


# The later client reacts to each of the thousand messages, which takes minutes: nightly.
@scenario(secs=30 if IS_0_19 else 120, chosen=IS_0_19)
async def window_never_exceeded(stage: Stage) -> None:
    """With 1,000 messages waiting, a client that does not ack gets twelve and no more; when it acks, all 1,000 come
    in order, and never more than twelve are unacked."""
    said = await stage.platform.say_many(1000)
    client = await stage.connected(keep_acks=True)

    def entries() -> int:
        return len(client.frames("inbound"))

    await until("the window is full", lambda: entries() >= WINDOW_ENTRIES)
    # Time for a thirteenth that must not come.
    await stays("twelve entries unacked", lambda: entries() == WINDOW_ENTRIES, 3)

    await client.ask("give_acks")
    await arrive(client.took, said, THOUSAND_SECS)
    in_order(client.handed(), said)
    once(client.handed(), said)
    most = most_unacked(client)
    require(most <= WINDOW_ENTRIES, f"{most} entries were unacked at one time")


def most_unacked(client: Client) -> int:
    """Returns the largest number of delivered and unacked entries at any moment."""
    steps = [(r["at"], 1) for r in client.frames("inbound")]
    steps += [(r["at"], -1) for r in client.of("sent") if r["type"] == "inbound_ack"]
    unacked = most = 0
    # At equal times, the ack was first.
    for _, step in sorted(steps):
        unacked += step
        most = max(most, unacked)
    return most


@scenario(secs=48)
async def late_acks_of_35_seconds(stage: Stage) -> None:
    """The client's reader blocks for 35 s while its handler waits. Acks come late; no message is delivered a second
    time, and the line stays."""
    client = await stage.connected(slow_secs=35)
    said = await stage.platform.say_many(5)
    await until("the first is in the handler", lambda: len(client.handed()) == 1)
    await arrive(client.took, said, 50)
    said.append(await stage.platform.say())
    await arrive(client.took, [said[-1]])

    in_order(client.handed(), said)
    once(client.handed(), said)
    require(client.lines() == 1, f"the client needed {client.lines()} lines")


@scenario(secs=10)
async def oversized_entry_is_parked(stage: Stage) -> None:
    """A message of 700 kB, too large for a frame, never arrives; the next one does, and the line stays."""
    client = await stage.connected()
    too_large = await stage.platform.say("x" * 700_000)
    said = await stage.platform.say_many(2)
    await arrive(client.took, said)

    # Delivery is in order, so a later message proves that the large one will not come.
    in_order(client.handed(), said)
    require(too_large not in client.handed(), "the large message arrived")
    require(client.lines() == 1, f"the client needed {client.lines()} lines")
    require(client.closes() == [], f"closed with {client.closes()}")
