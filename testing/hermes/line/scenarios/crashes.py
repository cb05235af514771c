"""A process dies or freezes; no message is lost, and acked ones do not come again."""

import asyncio
import time

from line.remote import Client, one_entry_each
from line.scenarios import scenario
from line.stage import Stage
from props.client import IS_0_19, arrive
from props.judge import in_order, once, require, until

# The desk stores acks in batches; a crash may lose those of the last moment.
ACKS_SETTLE_SECS = 1.0
FROZEN_SECS = 60
# A sweep every thirty seconds finds entries whose hint was lost. An entry that has not come by then is lost.
LOST_AFTER_SECS = 45
RESTARTING = 1012
NO_CLOSE_FRAME = 1006


@scenario(secs=15, chosen=True)
async def client_killed_between_frame_and_ack(stage: Stage) -> None:
    """The client is killed while its handler has an unacked message. The next process gets that message once more,
    then the rest, in order; acked messages do not come again."""
    first = await stage.connected()
    acked = await stage.platform.say_many(3)
    await until("three are acked", lambda: len(first.acks()) == 3)
    await first.ask("hold", on=True)
    said = await stage.platform.say_many(5)
    await until("one is in the handler", lambda: said[0] in first.handed())
    # No frame confirms that an ack is stored.
    await asyncio.sleep(ACKS_SETTLE_SECS)
    await first.gone()

    second = await stage.connected()
    await arrive(second.took, said)
    in_order(second.handed(), said)
    once(second.handed(), said)
    require(not set(acked) & set(second.handed()), "an acked message came again")
    one_entry_each(first, second)


@scenario(secs=40, chosen=True)
async def desk_killed_with_entries_in_flight(stage: Stage) -> None:
    """The desk is killed three times: right after a 200 to the platform, while its writes are blocked, and with
    unacked entries at the client. Every message with a 200 arrives, in order within each chat, and messages acked
    before do not come again."""
    client = await stage.connected()
    settled = await stage.platform.say_many(5)
    await until("five are acked", lambda: len(client.acks()) == 5, LOST_AFTER_SECS)
    # No frame confirms that an ack is stored.
    await asyncio.sleep(ACKS_SETTLE_SECS)

    await kill_right_after_an_ok(stage)
    await kill_while_writes_are_stuck(stage)
    await kill_with_unacked(stage, client)

    said = stage.platform.ok()
    await arrive(client.handed, said, LOST_AFTER_SECS)
    for chat in range(8):
        of_chat = [r["message"] for r in client.of("handed") if r["chat"] == f"parallel-{chat}"]
        in_order(of_chat, sorted(set(of_chat), key=lambda message: int(message[1:])))
    once(client.handed(), settled)
    one_entry_each(client)


async def kill_right_after_an_ok(stage: Stage) -> None:
    """Eight chats write at once; the desk dies with the fortieth 200."""
    platform = stage.platform
    count = 0

    def kill_at_the_fortieth() -> None:
        nonlocal count
        count += 1
        if count == 40:
            stage.desk.kill()

    async def talk(chat: str) -> None:
        for _ in range(10):
            await platform.say(chat=chat)

    platform.on_ok = kill_at_the_fortieth
    talking = [asyncio.create_task(talk(f"parallel-{chat}")) for chat in range(8)]
    try:
        await until("forty are answered", lambda: count >= 40, 30)
        await stage.desk.killed()
        await stage.desk.start()
        await asyncio.gather(*talking)
    finally:
        platform.on_ok = lambda: None
        for task in talking:
            task.cancel()


async def kill_while_writes_are_stuck(stage: Stage) -> None:
    """The desk dies while PostgreSQL blocks every write. A 200 in that time would be false."""
    platform = stage.platform
    letters = [platform.write() for _ in range(3)]
    async with stage.cluster.writes_blocked(stage.database):
        # Shorter than the desk's own timeout: the desk has not responded at all.
        await asyncio.gather(*(platform.post(*letter, secs=0.7) for letter in letters))
        await stage.desk.killed()
    await stage.desk.start()
    taken = platform.ok()
    for message, body in letters:
        if message not in taken:
            await platform.post_until_taken(message, body)


async def kill_with_unacked(stage: Stage, client: Client) -> None:
    """The desk dies while the client holds a message and more are in flight."""
    await arrive(client.handed, stage.platform.ok(), LOST_AFTER_SECS)
    await client.ask("hold", on=True)
    said = await stage.platform.say_many(20)
    await until("one is in the handler", lambda: said[0] in client.handed())
    line = client.line()
    await stage.desk.killed()
    await client.ask("hold", on=False)
    await stage.desk.start()
    await client.online_after(line)


@scenario(secs=30)
async def each_node_killed_in_turn(stage: Stage) -> None:
    """The platform's node is killed while messages come; the platform uses the other. Then the line's node is killed,
    and messages that come meanwhile wait. Everything arrives, in order."""
    client = await stage.connected()
    front, back = stage.desk.nodes
    said = await stage.platform.say_many(3)
    await until("three are acked", lambda: len(client.acks()) == 3)
    await front.killed()
    hook_url = stage.platform.hook_url
    stage.platform.hook_url = hook_url.replace(f":{front.port}/", f":{back.port}/")
    said += await stage.platform.say_many(5)
    await arrive(client.took, said)

    await front.start()
    stage.platform.hook_url = hook_url
    line = client.line()
    await back.killed()
    said += await stage.platform.say_many(5)
    await back.start()
    await client.online_after(line)
    await arrive(client.took, said, LOST_AFTER_SECS)
    in_order(client.handed(), said)
    one_entry_each(client)


@scenario(secs=15)
async def desk_stopped_with_entries_in_flight(stage: Stage) -> None:
    """The desk gets SIGTERM while the client holds a message and more are in flight. It closes with the code for a
    restart; afterwards the rest arrives, and acked messages do not come again."""
    client = await stage.connected()
    acked = await stage.platform.say_many(3)
    await until("three are acked", lambda: len(client.acks()) == 3)
    await client.ask("hold", on=True)
    said = await stage.platform.say_many(15)
    await until("one is in the handler", lambda: said[0] in client.handed())
    line = client.line()
    await stage.desk.stop()
    await client.ask("hold", on=False)
    await stage.desk.start()
    await client.online_after(line)

    await arrive(client.took, said)
    in_order(client.handed(), acked + said)
    once(client.handed(), acked)
    one_entry_each(client)
    # A client whose reader is blocked stops reading its socket when sixteen frames wait there. The responses to its own
    # reactions count, so a client that reacts may not see the close.
    seen = {RESTARTING} if IS_0_19 else {RESTARTING, NO_CLOSE_FRAME}
    require(len(client.closes()) == 1 and set(client.closes()) <= seen, f"closed with {client.closes()}")


@scenario(secs=75)
async def client_frozen_for_a_minute(stage: Stage) -> None:
    """The client's machine is frozen for a minute while messages come, and then continues. No message is lost, and
    the first deliveries are in order."""
    client = await stage.connected()
    said = await stage.platform.say_many(5)
    await arrive(client.took, said)

    client.freeze()
    thaw_at = time.monotonic() + FROZEN_SECS
    for _ in range(20):
        said.append(await stage.platform.say())
        await asyncio.sleep(FROZEN_SECS / 25)
    await asyncio.sleep(thaw_at - time.monotonic())
    client.thaw()

    said.append(await stage.platform.say())
    await arrive(client.took, said, 60)
    in_order(client.handed(), said)
    once(client.handed(), said[:5])
    one_entry_each(client)


@scenario(secs=15)
async def poisonous_entry_is_parked(stage: Stage) -> None:
    """A message at which the handler raises ends the client's reader, leaves its socket open and makes it dial again.
    The desk delivers it three times and then parks it, and the next one arrives."""
    client = await stage.connected(raise_on="m2")
    said = await stage.platform.say_many(4)
    await arrive(client.took, [said[0], *said[2:]], 40)

    tries = client.handed().count("m2")
    require(tries == 3, f"it was handed over {tries} times")
    once(client.handed(), [said[0], said[2], said[3]])
    require(4401 not in client.closes(), "the client was told that it is revoked")
