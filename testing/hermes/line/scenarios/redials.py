"""Lines end and begin: by going idle, by a second dial, every second."""

import asyncio

from line.remote import one_entry_each
from line.scenarios import scenario
from line.stage import Stage
from props.client import arrive
from props.judge import in_order, once, require, until

REDIALS = 50
REPLACED = 4409


@scenario(secs=12, chosen=True)
async def going_idle(stage: Stage) -> None:
    """The desk confirms at once to a client that goes idle, and the client closes with 1000. Messages that come
    meanwhile wait and arrive on the next dial."""
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


@scenario(secs=15, chosen=True)
async def two_sockets_one_agent(stage: Stage) -> None:
    """Two clients dial in as the same gateway. The older line is closed with 4409, and each message arrives once in
    total: from then on at the newer."""
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


@scenario(secs=25)
async def two_clients_that_fight_lose_nothing(stage: Stage) -> None:
    """The same gateway was started twice. Each process takes the line from the other every second while messages
    come; when one stops, all messages have arrived, their first deliveries in order."""
    both = [await stage.connected(backoff_secs=1), await stage.connected(backoff_secs=1)]
    said = []
    for _ in range(30):
        said.append(await stage.platform.say())
        # A message now and then, as people write, while the fight continues.
        await asyncio.sleep(0.3)
    await both[0].ask("disconnect")

    await arrive(lambda: both[0].took() + both[1].took(), said)
    handed = sorted(both[0].of("handed") + both[1].of("handed"), key=lambda record: record["at"])
    in_order([record["message"] for record in handed], said)
    one_entry_each(*both)
    closes = set(both[0].closes() + both[1].closes())
    require(closes <= {REPLACED, 1000}, f"closed with {closes}")
    require(both[0].lines() > 3, "the two did not fight; the scenario shows nothing")


@scenario(secs=70)
async def redial_every_second_parks_nothing(stage: Stage) -> None:
    """For a minute a client dials in every second, never acks, and closes the line with or without a close frame;
    every tenth time it stays until it gets the message. The message is not parked for that: it arrives in the end,
    and so does the next."""
    waiting = await stage.platform.say()
    client = await stage.client(reconnect=False, keep_acks=True)
    for redial in range(REDIALS):
        times = len(client.handed())
        await client.connect()
        # A second on the line is the subject of this scenario.
        await asyncio.sleep(1)
        if redial % 10 == 0:
            await until("it is handed over", lambda: len(client.handed()) > times)
        await client.ask("close" if redial % 2 else "drop")
    times = len(client.handed())

    await client.ask("forget_acks")
    await client.connect()
    await until("it arrives and is acked", lambda: len(client.acks()) == 1)
    said = [waiting, await stage.platform.say()]
    await arrive(client.took, [said[1]])
    in_order(client.handed(), said)
    once(client.handed(), said[1:])
    require(times > 3, f"it was handed over only {times} times before; the scenario shows nothing")
