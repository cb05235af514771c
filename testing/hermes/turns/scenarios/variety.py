"""Every event that a platform can send, and every text that a visitor can write on the desk's page."""

from typing import Any

from props.client import arrive
from props.judge import plain, require, stays, until
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS, Stage

KINDS = ("text", "location", "photo", "video", "audio", "voice", "document", "sticker", "command")
SHARED_ROOM = {"scope_id": "guild-1", "chat_name": "the room", "chat_topic": "owls"}
LONG_CHARS = 200_000
PAGE_CHARS = 8000
BAD_REQUEST, TOO_LARGE = 400, 413
PHOTO = {"url": "https://pictures.example/owl.png", "mime": "image/png", "kind": "image"}
PHOTO |= {"size": 4711, "filename": "owl.png", "caption": "an owl"}


@scenario(secs=30, bill="talk", platforms=("discord",))
async def every_event_type(stage: Stage) -> None:
    """Every kind of message that the client knows, in every kind of chat, with every attachment and every odd text:
    each is acked, the model gets those with content, nothing breaks the line, and the next message is answered. A
    press of an unknown button reaches no agent."""
    line = stage.tap.lines[-1]
    before = set(line.acked())
    words: dict[str, str] = {}
    for name, text, source, more in corpus():
        words[name] = stage.model.word()
        chat = f"event-{name}"
        letter = stage.platform.write(text.replace("WORD", words[name]), chat, source, **more)
        await stage.platform.post_until_taken(*letter)
    await stage.platform.interact("event-interaction")
    unasked = words.pop("prompt")

    # An ack for each, whether the client uses it or not.
    await until(
        "every event is acked",
        lambda: len(set(line.acked()) - before) == len(words),
        ANSWER_SECS,
    )
    speaking = [words[name] for name, text, _, _ in corpus() if "WORD" in text and name in words]
    await arrive(stage.model.asked, speaking, 2 * ANSWER_SECS)
    await stage.talk("after-all-events")
    require(stage.tap.lines[-1] is line, "the gateway dialled anew")
    require(not stage.model.turns_of(unasked), "a press on what nobody asked reached the agent")


def corpus() -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Returns each event: its name, text, source, and other fields."""
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


@scenario(secs=60, bill="talk", platforms=("webchat",))
async def whatever_a_visitor_writes(stage: Stage) -> None:
    """Every odd text that a visitor can write on the desk's page: the model gets it unchanged, the page shows it
    unchanged, and it is answered. The desk refuses an empty or too long text, and no agent gets it. After commands,
    the next message is answered."""
    line = stage.tap.lines[-1]
    words: dict[str, str] = {}
    for name, text in written().items():
        words[name] = stage.model.word()
        await stage.page.write(f"page-{name}", text.replace("WORD", words[name]))
    for name, word in words.items():
        await stage.is_answered(f"page-{name}", word, 2 * ANSWER_SECS)
        await stage.just_once(f"page-{name}", word, quiet_secs=0)
        text = plain(written()[name].replace("WORD", word))
        asked = plain(stage.model.turns_of(word)[0].text)
        require(text in asked, f"the model got the message {name} otherwise: {asked[:200]}")
        shown = plain("".join(stage.page.own(f"page-{name}")))
        require(text == shown, f"the page shows the message {name} otherwise: {shown[:200]}")

    status = await stage.page.try_to_write("page-refused", " \n\t ")
    require(status == BAD_REQUEST, f"an empty message was answered with {status}")
    status = await stage.page.try_to_write("page-refused", "o" * (PAGE_CHARS + 1))
    require(status == TOO_LARGE, f"a message that is too long was answered with {status}")
    handed = len(line.handed())
    await stays("nobody hears of what was refused", lambda: len(line.handed()) == handed, 1)
    require(not stage.page.own("page-refused"), "the page shows what was refused")

    for command in ("/status", "/no-such-command-at-all"):
        await stage.page.write("page-command", command)
    await until("the commands are acked", lambda: len(line.acked()) == handed + 2, ANSWER_SECS)
    await stage.talk("page-after-commands")
    require(stage.tap.lines[-1] is line, "the gateway dialled anew")


def written() -> dict[str, str]:
    """Returns the visitors' texts, by name. The word is a character longer than `WORD`."""
    fence = "```"
    return {
        "unicode": "שלום 用户 🦉👩‍👩‍👧 e\u0301 WORD",
        "pairs": "\U0001f989\U0001f319 WORD \U0010fffd",
        "separators": "a\u2028b\u2029c\u0085d WORD",
        "lines": "WORD\n\none\ntwo\n\n\nthree",
        "json": '{"type":"inbound"}\n{"type":"descriptor","descriptor":null}\n WORD',
        "event": "event: status\ndata: {}\n\nid: 99\n: WORD",
        "code": f"{fence}rust\nfn main() {{ let t = \"WORD\"; }}\n{fence}",
        "markdown": "# WORD\n\n* **bold** _it_ `code`\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        "html": "<script>alert('WORD')</script> &amp; <b>b</b> <!-- c --> </div></li>",
        "link": "see [WORD](javascript:alert(1)) and https://owl.example/?a=1&b=2#c",
        "longest": ("WORD " + "owl " * PAGE_CHARS)[: PAGE_CHARS - 4] + "end",
        "one_line": "WORD " + "🦉" * (PAGE_CHARS - 6),
    }
