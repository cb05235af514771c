"""The vectors that the desk's own code makes, and that every SDK reads."""

import json
from typing import Any

import pytest
from conftest import VECTORS, serving
from fakedesk import GATEWAY, SECRET

from nightdesk import Login, Message, Source
from nightdesk.actions import read_receipt
from nightdesk.asgi import HttpApp, Receive, Reply, Scope, read_body
from nightdesk.errors import AmbiguousError, BadSignatureError, FailedError, RefusedError, SendError
from nightdesk.fires import read_keys, verify_fire
from nightdesk.message import Descriptor
from nightdesk.peers import Peers
from nightdesk.session_key import session_key
from nightdesk.webhook import verify
from nightdesk.wire import Json, decode, read_object, read_text


def read(name: str) -> Any:
    return json.loads((VECTORS / name).read_text())


OUTCOMES = {RefusedError: "refused", FailedError: "failed", AmbiguousError: "ambiguous"}


def read_result(frame: Json) -> Json:
    found: Json = {"type": "result", "request_id": read_text(frame, "requestId"), "outcome": "done"}
    message_id = thread_id = None
    try:
        receipt = read_receipt(read_object(frame, "result"), "r1")
        message_id, thread_id = receipt.message_id, receipt.thread_id
    except SendError as error:
        found["outcome"] = OUTCOMES[type(error)]
    return {**found, "message_id": message_id, "thread_id": thread_id}


def read_entry(frame: Json) -> Json:
    message = Message(frame)
    source = message.source
    names = ("platform", "chat_id", "chat_type", "user_id", "user_name", "thread_id", "scope_id", "is_bot")
    return {
        "type": "entry",
        "id": message.id,
        "text": message.text,
        "message_type": message.message_type,
        "message_id": message.message_id,
        "session": message.session_key,
        "source": {name: getattr(source, name) for name in names}
        | {"bot": message.place.bot, "message_is_edit": source.message_is_edit},
    }


def read_frame(line: str) -> Json | None:
    """Reads a line with the SDK's own functions, and returns what an agent gets of it."""
    frame = decode(line.encode()) or {}
    match frame.get("type"):
        case "inbound":
            return read_entry(frame)
        case "passthrough_forward":
            message = Message(frame)
            platform = message.forward["platform"]
            return {"type": "forward", "id": message.id, "platform": platform, "session": message.session_key}
        case "outbound_result":
            return read_result(frame)
        case "descriptor":
            descriptor = Descriptor.read(read_object(frame, "descriptor"))
            names = ("platform", "label", "max_message_length", "len_unit")
            ops = [op in descriptor.supported_ops for op in ("send", "react")]
            return {"type": "descriptor", "ops": ops} | {name: getattr(descriptor, name) for name in names}
        case "interrupt_inbound":
            return {"type": "interrupt", "session_key": read_text(frame, "session_key")}
        case "going_idle_ack":
            return {"type": "idle"}
        case _:
            return None


@pytest.mark.parametrize("case", read("frames.json"), ids=lambda case: case["name"])
def test_reads_each_line_of_the_desk_as_the_desk_means_it(case: Json) -> None:
    assert read_frame(case["line"]) == case["read"]


def test_computes_the_session_keys_of_the_newest_client() -> None:
    cases = read("session_keys_newest.json")
    assert len(cases) > 70
    for case in cases:
        made = session_key(Source.read(case["source"]))
        # A source without a key has a name of the SDK's own, so that it has a turn.
        assert made == case["key"] or (case["key"] is None and made.startswith("chat:")), case


FIRES = read("fire_tokens.json")


@pytest.mark.parametrize("case", FIRES["cases"], ids=lambda case: case["name"])
def test_judges_each_fire_token(case: Json) -> None:
    between = {"issuer": FIRES["issuer"], "audience": FIRES["audience"], "now": FIRES["now"]}
    try:
        fire_id = verify_fire(case["token"], read_keys(FIRES["jwks"]), **between)
    except BadSignatureError:
        fire_id = None
    assert fire_id == (FIRES["fire_id"] if case["good"] else None)


WEBHOOKS = read("webhooks.json")


@pytest.mark.parametrize("case", WEBHOOKS["cases"], ids=lambda case: case["name"])
def test_judges_each_post(case: Json) -> None:
    try:
        verify(WEBHOOKS["secrets"], case["headers"], case["body"].encode(), WEBHOOKS["now"])
        is_good = True
    except BadSignatureError:
        is_good = False
    assert is_good == case["good"]


class LetterDesk(HttpApp):
    """Answers letters, and keeps their bodies."""

    def __init__(self, answers: list[Json]) -> None:
        self.answers = answers
        self.bodies: list[Json] = []

    async def _respond(self, scope: Scope, receive: Receive) -> Reply:
        assert (scope["method"], scope["path"]) == ("POST", "/v1/letters")
        self.bodies.append(json.loads(await read_body(receive) or b""))
        return Reply(200, json.dumps(self.answers.pop(0)).encode(), "application/json")


async def test_writes_each_letter_as_the_desk_reads_it() -> None:
    vectors = read("letters.json")
    desk = LetterDesk([vectors["sent"]] * 3 + [vectors["replied"]])
    async with serving(desk) as url, Peers(url, Login.gateway(GATEWAY, SECRET)) as peers:
        for case in vectors["requests"]:
            letter = dict(case["letter"])
            agent, message = letter.pop("agent"), letter.pop("message")
            if "timeout_ms" in letter:
                letter["wait"] = letter.pop("timeout_ms") / 1000
            answer = await getattr(peers, case["op"])(agent, message, **letter)
            want = vectors["replied"]["response"] if case["op"] == "exchange" else vectors["sent"]
            assert answer == want
    assert desk.bodies == [case["body"] for case in vectors["requests"]]
