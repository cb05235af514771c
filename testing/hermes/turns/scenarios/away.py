"""The gateway is away for a while, or permanently."""

import time

from props.judge import require, stays, until
from turns.scenarios import scenario
from turns.stage import Stage

BILL = "away"
WAKING = "waking…"
NORMAL, REVOKED = 1000, 4401
CLOSE_SECS = 5
REVOKE_SECS = 2
# Several times the client's first waits between dials.
NO_DIAL_SECS = 10
# Longer than the desk waits for a gateway that boots without a pause.
STANDS_STILL_SECS = 5


@scenario(secs=45, bill=BILL, chosen=True)
async def sigterm_with_going_idle(stage: Stage) -> None:
    """The gateway gets SIGTERM. It announces that it goes idle, the desk acks, and the line is closed at once.
    Messages that come meanwhile are answered once after the next start."""
    await stage.talk("sigterm")
    line = stage.tap.lines[-1]
    asked_at = time.monotonic()
    stage.hermes.ask_to_end()
    await stage.hermes.ended()
    require(len(line.gateway.of("going_idle")) == 1, "the gateway did not say that it goes")
    going, acks = line.gateway.of("going_idle")[0], line.desk.of("going_idle_ack")
    require(len(acks) == 1, f"going idle was acked {len(acks)} times")
    require(line.gateway.closed_with == NORMAL, f"closed with {line.gateway.closed_with}")
    closed_at = line.gateway.closed_at or asked_at
    require(closed_at - going.at < CLOSE_SECS, f"closed {closed_at - going.at:.1f} s after")
    require(stage.tap.lines[-1] is line, "the gateway dialled again")

    word = stage.model.word()
    await stage.asks("sigterm", word)
    await stage.start_hermes()
    await stage.is_answered("sigterm", word)
    await stage.just_once("sigterm", word, quiet_secs=3)


@scenario(secs=45, bill=BILL, chosen=True)
async def message_while_the_gateway_is_stopped(stage: Stage) -> None:
    """The gateway crashes. A visitor who writes meanwhile sees "waking…". The message waits, and is answered once
    after the next start, in order, and the page stops showing "waking…"; messages answered before are not answered
    again."""
    before = await stage.talk("stopped")
    await stage.all_acked()
    line = stage.tap.lines[-1]
    await stage.hermes.killed()
    await until("the desk has noticed", lambda: line.is_over)
    await stage.desk.knows_the_line_is_over()
    # Chats that are new to it: after a crash the client continues the last turn of chats that it knows, and drops
    # messages that it acked just when that turn ends.
    words = {chat: stage.model.word() for chat in ("stopped-one", "stopped-too")}
    for chat, word in words.items():
        await stage.asks(chat, word)
        await until(f"{chat} is shown {WAKING}", lambda: WAKING in stage.front.shown(chat)[-1:])
    await stage.start_hermes()
    for chat, word in words.items():
        await stage.is_answered(chat, word)
        await stage.just_once(chat, word, quiet_secs=2)
        # A platform's typing ends by itself; the page shows it until another line comes.
        is_over = stage.is_discord or stage.front.shown(chat)[-1] != WAKING
        require(is_over, f"{chat} is still shown {WAKING}")
    await stage.just_once("stopped", before)
    # The client works on two chats at once; the desk delivers in order.
    asked = [word for word in stage.model.asked() if word in words.values()]
    require(sorted(asked) == sorted(words.values()), f"the model was asked about {asked}")
    entries = stage.tap.lines[-1].desk.of("inbound")
    texts = [entry.body["event"]["text"] for entry in entries]
    handed = [word for text in texts for word in words.values() if word in text]
    require(handed == list(words.values()), f"the gateway was handed {handed}")


@scenario(secs=45, bill=BILL, chosen=True)
async def gateway_that_boots_slowly(stage: Stage) -> None:
    """A message waits for a gateway whose machine freezes right after the gateway is connected. The gateway
    acknowledges and loses entries until its boot is over, so the desk waits longer, and the message is answered once."""
    await stage.agent.killed()
    word = stage.model.word()
    await stage.asks("slow", word)
    await stage.start_hermes()
    await stage.hermes.stand_still(STANDS_STILL_SECS)
    await stage.is_answered("slow", word)
    await stage.just_once("slow", word, quiet_secs=2)


@scenario(secs=60, bill=BILL)
async def revoke(stage: Stage) -> None:
    """The gateway is revoked. Its line is closed with 4401 at once, no more frames follow, and the gateway does not
    dial again. Later messages wait for another gateway."""
    await stage.talk("revoke")
    await stage.all_acked()
    line = stage.tap.lines[-1]
    began_at = time.monotonic()
    await stage.desk.revoke(stage.gateway)
    await until("the line is closed", lambda: line.desk.closed_at is not None, REVOKE_SECS)
    require(line.desk.closed_with == REVOKED, f"closed with {line.desk.closed_with}")
    took_secs = (line.desk.closed_at or began_at) - began_at
    require(took_secs < REVOKE_SECS, f"closed after {took_secs:.1f} s")
    frames = len(line.desk.frames)

    word = stage.model.word()
    await stage.asks("revoke", word)
    await stays(
        "no new dial, and nothing said on the old line",
        lambda: stage.tap.lines[-1] is line and len(line.desk.frames) == frames,
        NO_DIAL_SECS,
    )
    require(not stage.model.turns_of(word), "a revoked gateway was handed a message")

    await stage.hermes.killed()
    await stage.enrol("gw-2")
    await stage.start_hermes()
    await stage.is_answered("revoke", word)
    await stage.just_once("revoke", word)
