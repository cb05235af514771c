"""The SDK against the vectors that every implementation shares."""

import json
import re
from typing import Any

import pytest
from conftest import SNAPSHOTS, VECTORS

from nightdesk import Message, Place, Source, build_action
from nightdesk.actions import read_receipt
from nightdesk.errors import AmbiguousError, FailedError, RefusedError, SendError
from nightdesk.login import make_token
from nightdesk.message import Descriptor
from nightdesk.session_key import session_key
from nightdesk.wire import LineSplitter, decode, encode

# The tokens that were changed after they were made: they test verifiers, and nobody makes them.
ALTERED = 11


def read(name: str) -> Any:
    return json.loads((VECTORS / name).read_text())


def captured(direction: str) -> list[Any]:
    lines = (VECTORS / "hermes_frames.jsonl").read_text().splitlines()
    return [capture["frame"] for capture in map(json.loads, lines) if capture["dir"] == direction]


def snapshot(name: str) -> list[str]:
    """Returns the frames of a snapshot, which are its lines that begin with a brace."""
    text = (SNAPSHOTS / f"wire__frames__{name}_on_the_wire.snap").read_text()
    return [line for line in text.splitlines() if line.startswith("{")]


def test_makes_the_tokens_of_the_stock_client() -> None:
    cases = read("upgrade_tokens.json")
    made = {
        case["name"]: make_token(
            case["payload"],
            case["secret"],
            case["now_at_mint"],
            300 if case["ttl_seconds"] is None else case["ttl_seconds"],
        )
        for case in cases
    }

    same = [case["name"] for case in cases if made[case["name"]] == case["token"]]
    assert len(same) == len(cases) - ALTERED
    assert {"upgrade default ttl 300", "ttl 1", "never expires (ttl 0)", "unicode secret"} <= set(same)


def test_computes_the_session_keys_of_the_stock_client() -> None:
    # Only Hermes 0.19 has the options and the errors of the rest.
    cases = [case for case in read("session_keys.json") if case["key"] is not None and "options" not in case]
    assert len(cases) > 70

    others = [case["source"] for case in cases if session_key(Source.read(case["source"])) != case["key"]]
    # The newest client puts Slack's scope into the key; an unknown type of chat is a group; the desk sends no zero.
    on_slack = [source for source in others if source["platform"] == "slack" and source["scope_id"]]
    unknown = [source for source in others if source.get("chat_type") in ("weird", "", "DM")]
    zero = [source for source in others if source.get("user_id") == 0]
    opens_thread = [source for source in others if source.get("prospective_thread_id")]
    assert (len(unknown), len(zero)) == (3, 1)
    assert len(on_slack) + len(unknown) + len(zero) + len(opens_thread) == len(others)


SLACK = {"platform": "slack", "chat_id": "D0", "user_id": "U0", "scope_id": "T0"}
OPENS = {"chat_type": "group", "user_id": "u1", "scope_id": "g1", "prospective_thread_id": "m1"}


@pytest.mark.parametrize(
    ("source", "want"),
    [
        (SLACK, "agent:main:slack:dm:T0:D0"),
        (SLACK | {"thread_id": "1.2"}, "agent:main:slack:dm:T0:D0:1.2"),
        (SLACK | {"chat_id": ""}, "agent:main:slack:dm:T0:U0"),
        (SLACK | {"chat_type": "group"}, "agent:main:slack:group:T0:D0:U0"),
        (SLACK | {"platform": "signal"}, "agent:main:signal:dm:D0"),
        ({"platform": "discord", "chat_id": "c1"} | OPENS, "agent:main:discord:thread:c1:m1"),
        ({"platform": "discord", "chat_id": "c1", "prospective_thread_id": "m1"}, "agent:main:discord:dm:c1"),
        ({"platform": "discord", "chat_id": "c1", "thread_id": "t1"} | OPENS, "agent:main:discord:group:c1:t1"),
        (
            {"platform": "telegram", "chat_id": -100, "chat_type": "forum", "thread_id": 3},
            "agent:main:telegram:forum:-100:3",
        ),
        ({"platform": "webchat", "chat_id": "v1"}, "agent:main:relay:dm:v1"),
        ({"platform": "whatsapp", "chat_id": "a b@x"}, "chat:whatsapp:a b@x"),
    ],
)
def test_computes_the_session_keys_of_the_newest_client(source: Any, want: str) -> None:
    assert session_key(Source.read(source)) == want


def test_reads_all_that_a_connector_sent() -> None:
    frames = captured("connector->gateway")
    kinds = [frame["type"] for frame in frames]
    assert len(frames) == 10

    assert LineSplitter().push("".join(json.dumps(frame) + "\n" for frame in frames)) == frames
    messages = [Message(frame) for frame in frames if frame["type"] in ("inbound", "passthrough_forward")]
    assert len(messages) == kinds.count("inbound") + kinds.count("passthrough_forward") > 4
    assert all(message.session_key.startswith(("agent:main:discord:", "forward:discord:botD")) for message in messages)
    in_thread = next(message for message in messages if message.text == "in thread")
    assert in_thread.place == Place("thr1", "discord", None, {"scope_id": "g1", "thread_id": "thr1", "user_id": "u1"})
    pressed = next(message for message in messages if message.prompt_response)
    assert pressed.prompt_response["option_id"] == "once"
    assert pressed.message_type == "command"


def test_writes_the_sends_of_a_gateway() -> None:
    actions = [frame["action"] for frame in captured("gateway->connector") if frame["type"] == "outbound"]
    assert len(actions) > 5

    for action in actions:
        place = Place(action["chat_id"], metadata=action["metadata"])
        fields = {"content": action["content"], "reply_to": action["reply_to"]}
        want = {name: value for name, value in action.items() if value is not None}
        assert build_action("send", place, fields) == want


def test_reads_an_entry_of_the_desk() -> None:
    (line,) = snapshot("an_entry")
    message = Message(decode(line.encode()) or {})

    assert message.id == "AAAAAAAAAAAAAAAAAAAABwAAAAAAAAAFAAAAAAAAACo"
    assert (message.text, message.message_type, message.message_id) == ("look\nhere", "photo", "m3")
    assert message.source.message_is_edit
    assert message.source.parent_chat_id == "chan1"
    assert message.media[0]["kind"] == "image"
    assert message.fire["job_id"] == "ab12"
    assert message.letter["kind"] == "augment"
    assert message.event["reply_to"]["author"] == "Bob"
    assert message.session_key == "agent:main:discord:thread:thread1:thread1"


def test_reads_a_request_of_a_platform() -> None:
    (line,) = snapshot("a_passthrough")
    message = Message(decode(line.encode()) or {})

    assert message.forward["method"] == "POST"
    assert message.session_key == "forward:discord:botD"
    assert message.text == ""


def test_reads_a_descriptor_of_the_desk() -> None:
    (line,) = snapshot("a_descriptor")
    frame = decode(line.encode()) or {}
    descriptor = Descriptor.read(frame["descriptor"])

    assert descriptor.platform
    assert descriptor.max_message_length == frame["descriptor"]["max_message_length"]
    assert "send" in descriptor.supported_ops
    bare = Descriptor.read({"len_unit": "words", "max_message_length": "many"})
    assert (bare.len_unit, bare.max_message_length) == ("chars", 4096)
    assert bare.supported_ops == {"send", "edit", "typing", "follow_up"}


def test_reads_every_result_of_the_desk() -> None:
    results = [(decode(line.encode()) or {})["result"] for line in snapshot("answers")]
    outcomes: list[object] = []
    for result in results:
        try:
            receipt = read_receipt(result, "r1")
            outcomes.append((receipt.message_id, receipt.thread_id, receipt.chat))
        except SendError as error:
            outcomes.append(type(error))

    chat = {"name": "general", "type": "channel"}
    assert outcomes == [
        ("msg-1", None, None),
        ("msg-1", "thread1", None),
        RefusedError,
        FailedError,
        AmbiguousError,
        (None, None, chat),
        FailedError,
        FailedError,
    ]


def test_writes_an_ack_as_the_rust_sdk_does() -> None:
    ack, interrupt = snapshot("acks_and_interrupts_of_a_gateway")
    entry = re.search('"bufferId":"([^"]+)"', ack)
    assert entry is not None

    assert encode({"type": "inbound_ack", "bufferId": entry[1]}).decode() == f"{ack}\n"
    key = "agent:main:discord:dm:c1"
    assert encode({"type": "interrupt", "session_key": key, "reason": None}).decode() == f"{interrupt}\n"
