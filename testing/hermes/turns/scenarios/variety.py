"""Whatever a platform may say."""

from typing import Any

from props.judge import arrive, require, until
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS, Stage

KINDS = ("text", "location", "photo", "video", "audio", "voice", "document", "sticker", "command")
SHARED_ROOM = {"scope_id": "guild-1", "chat_name": "the room", "chat_topic": "owls"}
LONG_CHARS = 200_000
PHOTO = {"url": "https://pictures.example/owl.png", "mime": "image/png", "kind": "image"}
PHOTO |= {"size": 4711, "filename": "owl.png", "caption": "an owl"}


@scenario(secs=30, bill="talk")
async def every_event_type(stage: Stage) -> None:
    """Every kind of message the client knows, in every kind of chat, with everything that may hang
    on it and every odd text: each is acked, what says something reaches the model, nothing breaks
    the line, and the next message is answered."""
    line = stage.tap.lines[-1]
    before = set(line.acked())
    words: dict[str, str] = {}
    for name, text, source, more in corpus():
        words[name] = stage.model.word()
        chat = f"event-{name}"
        letter = stage.platform.write(text.replace("WORD", words[name]), chat, source, **more)
        await stage.platform.post_until_taken(*letter)
    if stage.is_discord:
        await stage.platform.interact("event-interaction")

    # An ack for each, whatever the client makes of it.
    await until(
        "every event is acked",
        lambda: len(set(line.acked()) - before) == len(words),
        ANSWER_SECS,
    )
    speaking = [words[name] for name, text, _, _ in corpus() if "WORD" in text]
    await arrive(stage.model.asked, speaking, 2 * ANSWER_SECS)
    await stage.talk("after-all-events")
    require(stage.tap.lines[-1] is line, "the gateway dialled anew")


def corpus() -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Each event: its name, text, source, and what else is in it."""
    about = "tell me about WORD"
    kinds = [
        (kind, about, {}, {"message_type": kind, "media": [{**PHOTO, "kind": kind}]})
        for kind in KINDS
    ]
    rooms = [
        ("group", about, {"chat_type": "group", **SHARED_ROOM}, {}),
        ("channel", about, {"chat_type": "channel", **SHARED_ROOM}, {}),
        ("forum", about, {"chat_type": "forum", "thread_id": "th-1", **SHARED_ROOM}, {}),
        ("thread", about, {"chat_type": "thread", "thread_id": "th-2", **SHARED_ROOM}, {}),
        ("parent", about, {"chat_type": "thread", "thread_id": "th-3", **SHARED_ROOM}, {}),
        ("dm_thread", about, {"thread_id": "th-4"}, {}),
        ("names", about, {"user_id_alt": "alt-1", "chat_id_alt": "alt-2", "user_name": "Zoë"}, {}),
    ]
    context = [{"text": f"line {n}", "user_name": "Bob"} for n in range(30)]
    context.append({"text": "by id", "user_id": "u9"})
    reply = {"message_id": "m0", "text": "what was said", "author": "Bob", "is_own": True}
    prompt = {"prompt_id": "p.1", "option_id": "o1", "label": "Yes", "prompt_message_id": "m0"}
    hangings = [
        ("context", about, {}, {"context": context}),
        ("reply", about, {}, {"reply_to": reply}),
        ("reply_bare", about, {}, {"reply_to": {"message_id": "m0"}}),
        ("many_media", about, {}, {"message_type": "photo", "media": [PHOTO] * 5}),
        ("edit", about, {}, {"is_edit": True}),
        ("prompt", "Yes, WORD", {}, {"prompt_response": prompt}),
        ("no_id", about, {}, {"message_id": None}),
    ]
    texts = [
        ("unicode", "שלום 用户 🦉👩‍👩‍👧 e\u0301 WORD", {}, {}),
        ("pairs", "\U0001f989\U0001f319 WORD \U0010fffd", {}, {}),
        ("controls", "a\u0000b\u0001c\u2028d\u202ee\ufeff WORD\r\nf\tg", {}, {}),
        ("json", '{"type":"inbound"}\n{"type":"descriptor","descriptor":null}\n WORD', {}, {}),
        ("long", "WORD " + "owl " * (LONG_CHARS // 4), {}, {}),
        ("one_line", "WORD " + "o" * LONG_CHARS, {}, {}),
        ("empty", "", {}, {}),
        ("blank", " \n ", {}, {}),
        ("slash", "/status", {}, {"message_type": "command"}),
        ("unknown_slash", "/no-such-command-at-all", {}, {}),
    ]
    return [*kinds, *rooms, *hangings, *texts]
