"""Lines end and begin: by going idle, by a second dial, every second."""

import asyncio

from line.judge import arrive, in_order, once, require, until
from line.scenarios import scenario
from line.stage import Stage

REDIALS = 60
REPLACED = 4409


@scenario(secs=12)
async def going_idle(stage: Stage) -> None:
    """A client that goes idle is told so at once and closes with 1000. What is said meanwhile
    waits and arrives on the next dial."""
    client = await stage.connected()
    said = [await stage.platform.say()]
    await arrive(client.took, [said[0]])
    await client.ask("disconnect")
    await until("the socket is closed", lambda: client.closes() != [])

    asked_at = next(r["at"] for r in client.of("sent") if r["type"] == "going_idle")
    acked = client.frames("going_idle_ack")
    require(len(acked) == 1, f"going idle was acked {len(acked)} times")
    took_secs = acked[0]["at"] - asked_at
    require(took_secs < 1.5, f"the ack took {took_secs:.1f} s")
    require(client.closes() == [1000], f"closed with {client.closes()}")

    said += await stage.platform.say_many(3)
    await client.connect()
    await arrive(client.took, said)
    in_order(client.handed(), said)
    once(client.handed(), said)


@scenario(secs=15)
async def two_sockets_one_agent(stage: Stage) -> None:
    """Two clients dial in as the same gateway. The older line is closed with 4409, and each
    message is seen once in all: from then on by the newer."""
    older = await stage.connected(reconnect=False)
    before = await stage.platform.say_many(3)
    await arrive(older.took, before)
    await until("it acks them", lambda: len(older.acks()) == 3)
    newer = await stage.connected(reconnect=False)
    await until("the older is closed", lambda: older.closes() != [])
    after = await stage.platform.say_many(7)
    await arrive(newer.took, after)

    require(older.closes() == [REPLACED], f"the older was closed with {older.closes()}")
    require(newer.closes() == [], f"the newer was closed with {newer.closes()}")
    in_order(older.handed(), before)
    in_order(newer.handed(), after)
    once(older.handed() + newer.handed(), before + after)


@scenario(secs=70)
async def redial_every_second_parks_nothing(stage: Stage) -> None:
    """For a minute a client dials in every second, never acks, and hangs up, with a word or
    without. The message that waits is not parked for it: it arrives in the end, and the next too."""
    waiting = await stage.platform.say()
    client = await stage.client(reconnect=False, keep_acks=True)
    for redial in range(REDIALS):
        await client.connect()
        # A second on the line is what this scenario is about.
        await asyncio.sleep(1)
        await client.ask("close" if redial % 2 else "drop")
    require(client.handed() != [], "no line was ever handed the message")

    await client.ask("forget_acks")
    await client.connect()
    await until("it arrives and is acked", lambda: len(client.acks()) == 1)
    said = [waiting, await stage.platform.say()]
    await arrive(client.took, [said[1]])
    in_order(client.handed(), said)
    once(client.handed(), said[1:])
