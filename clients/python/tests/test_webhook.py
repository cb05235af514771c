"""Posts of the desk. The signatures are made by the reference library of Standard Webhooks."""

import asyncio
import base64
import json
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from conftest import serving, until, within
from fakedesk import entry, entry_id
from standardwebhooks import Webhook

from nightdesk import Place, Turn, build_action, limits
from nightdesk.errors import BadSignatureError
from nightdesk.webhook import LATER, Answer, WebhookApp, verify

SECRET = "whsec_" + base64.b64encode(b"a key of 24 bytes, or so").decode()
OTHER = "whsec_" + base64.b64encode(b"another key of 24 bytes.").decode()


def headers(post_id: str, body: str, secret: str = SECRET, at: datetime | None = None) -> dict[str, str]:
    at = at or datetime.now(UTC)
    signature = Webhook(secret).sign(post_id, at, body)
    return {
        "content-type": "application/json",
        "webhook-id": post_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signature,
    }


async def post(app: WebhookApp, frame: dict[str, Any], **signing: Any) -> httpx.Response:
    body = json.dumps(frame)
    post_id = frame.get("bufferId", "stop_1")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent") as http:
        return await http.post("/", content=body, headers=headers(post_id, body, **signing))


async def echo(turn: Turn) -> Answer:
    return turn.text


def test_a_signature_of_the_reference_library_is_right() -> None:
    now = datetime.now(UTC)
    assert verify([SECRET], headers("id-1", "{}", at=now), b"{}", now.timestamp()) == "id-1"
    rotated = headers("id-1", "{}", OTHER)
    both = rotated | {"webhook-signature": f"v1a,xyz {rotated['webhook-signature']}"}
    assert verify([SECRET, OTHER], both, b"{}") == "id-1"


@pytest.mark.parametrize(
    ("change", "body"),
    [
        ({}, b"{} "),
        ({"webhook-id": "id-2"}, b"{}"),
        ({"webhook-id": ""}, b"{}"),
        ({"webhook-timestamp": "1"}, b"{}"),
        ({"webhook-timestamp": "soon"}, b"{}"),
        ({"webhook-timestamp": "²"}, b"{}"),
        ({"webhook-timestamp": "9" * 5_000}, b"{}"),
        ({"webhook-signature": ""}, b"{}"),
        ({"webhook-signature": "v1,"}, b"{}"),
        ({"webhook-signature": "v1,é"}, b"{}"),
    ],
)
def test_every_other_post_is_refused(change: dict[str, str], body: bytes) -> None:
    with pytest.raises(BadSignatureError):
        verify([SECRET], headers("id-1", "{}") | change, body)


@pytest.mark.parametrize(("seconds", "is_right"), [(-299, True), (-302, False), (299, True), (302, False)])
def test_a_post_is_good_for_five_minutes(seconds: int, is_right: bool) -> None:
    signed = headers("id-1", "{}", at=datetime.now(UTC) + timedelta(seconds=seconds))
    if is_right:
        verify([SECRET], signed, b"{}")
    else:
        with pytest.raises(BadSignatureError):
            verify([SECRET], signed, b"{}")


def test_a_secret_is_checked_at_the_start() -> None:
    with pytest.raises(ValueError, match=r"base64|padding"):
        WebhookApp(echo, "whsec_***")


async def test_a_text_is_the_answer() -> None:
    response = await post(WebhookApp(echo, SECRET), entry(1, "hällo"))

    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text == "hällo"


async def test_actions_are_the_answer() -> None:
    async def answer(turn: Turn) -> Answer:
        return [build_action("react", turn.place, {"message_id": turn.message_id, "emoji": "👍"})]

    response = await post(WebhookApp(answer, SECRET), entry(1))

    place = {"chat_id": "c1", "metadata": {"user_id": "u1"}}
    assert response.json() == {"actions": [{"op": "react", "message_id": "m1", "emoji": "👍", **place}]}


async def test_a_text_and_actions_are_one_answer() -> None:
    async def answer(_: Turn) -> Answer:
        return {"text": "done", "actions": [build_action("typing", Place(""), {"content": ""})]}

    response = await post(WebhookApp(answer, SECRET), entry(1))

    # Without a chat, an action is for that of the entry.
    assert response.json() == {"text": "done", "actions": [{"op": "typing", "content": "", "metadata": {}}]}


async def test_an_answer_may_come_later() -> None:
    async def answer(_: Turn) -> Answer:
        return LATER

    response = await post(WebhookApp(answer, SECRET), entry(1))

    assert (response.status_code, response.content) == (202, b"")


async def test_no_answer_acknowledges_too() -> None:
    async def answer(_: Turn) -> None: ...

    assert (await post(WebhookApp(answer, SECRET), entry(1))).status_code == 204
    assert (await post(WebhookApp(answer, SECRET), {"type": "something_new"})).status_code == 204


async def test_a_failure_is_a_try_and_its_text_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def answer(turn: Turn) -> str:
        raise ValueError(turn.text)

    caplog.set_level(logging.DEBUG)
    response = await post(WebhookApp(answer, SECRET), entry(1, "canary"))

    assert (response.status_code, response.content) == (500, b"")
    assert "ValueError" in caplog.text
    assert "canary" not in caplog.text


async def test_a_turn_takes_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "POST_TURN_WAIT", 0.05)

    async def answer(_: Turn) -> None:
        await asyncio.Event().wait()

    assert (await within(post(WebhookApp(answer, SECRET), entry(1)))).status_code == 500


async def test_during_a_rotation_two_secrets_are_right() -> None:
    app = WebhookApp(echo, OTHER, SECRET)
    assert (await post(app, entry(1))).status_code == 200
    assert (await post(app, entry(1), secret=OTHER)).status_code == 200


async def test_a_stranger_calls_no_function() -> None:
    calls = 0

    async def answer(_: Turn) -> None:
        nonlocal calls
        calls += 1

    app = WebhookApp(answer, SECRET)
    assert (await post(app, entry(1), secret=OTHER)).status_code == 401
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent") as http:
        assert (await http.get("/")).status_code == 405
        assert (await http.post("/", content=b"{}")).status_code == 401
        assert (await http.post("/", content=b"x" * (limits.POST_BYTES_MAX + 1))).status_code == 413
    assert calls == 0


async def test_a_post_that_comes_again_waits_for_the_same_turn() -> None:
    calls = 0
    finish = asyncio.Event()

    async def answer(_: Turn) -> str:
        nonlocal calls
        calls += 1
        await finish.wait()
        return "once"

    app = WebhookApp(answer, SECRET)
    posts = [asyncio.create_task(post(app, entry(1))) for _ in range(2)]
    await until(lambda: calls)
    await asyncio.sleep(0.05)
    finish.set()
    assert [(await within(one)).text for one in posts] == ["once", "once"]
    assert calls == 1
    assert app._turns == {}


async def test_a_caller_that_hangs_up_does_not_end_the_turn() -> None:
    calls = 0
    finish = asyncio.Event()

    async def answer(_: Turn) -> str:
        nonlocal calls
        calls += 1
        await finish.wait()
        return "once"

    app = WebhookApp(answer, SECRET)
    first = asyncio.create_task(post(app, entry(1)))
    await until(lambda: calls)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    second = asyncio.create_task(post(app, entry(1)))
    await asyncio.sleep(0.05)
    finish.set()
    assert (await within(second)).text == "once"
    assert calls == 1


async def test_posts_at_once_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "POSTS_MAX", 1)
    finish = asyncio.Event()

    async def answer(_: Turn) -> None:
        await finish.wait()

    app = WebhookApp(answer, SECRET)
    first = asyncio.create_task(post(app, entry(1)))
    await until(lambda: app._turns)
    assert (await post(app, entry(2))).status_code == 503
    finish.set()
    assert (await within(first)).status_code == 204


@pytest.mark.parametrize("cancel_on_stop", [True, False])
async def test_a_stop_ends_the_turn_of_its_session(cancel_on_stop: bool) -> None:
    async def answer(turn: Turn) -> str:
        await turn.stopped()
        if cancel_on_stop:
            await asyncio.Event().wait()
        return "stopped"

    app = WebhookApp(answer, SECRET, cancel_on_stop=cancel_on_stop)
    running = asyncio.create_task(post(app, entry(1)))
    await until(lambda: app._turns)
    stop = {"type": "interrupt_inbound", "session_key": "agent:main:discord:dm:c1", "stop_id": "s1"}
    other = {"type": "interrupt_inbound", "session_key": "agent:main:discord:dm:c2", "stop_id": "s2"}
    assert (await post(app, other)).json() == {"stopped": False}
    assert (await within(post(app, stop))).json() == {"stopped": True}
    response = await within(running)
    assert response.text == ("" if cancel_on_stop else "stopped")


async def test_an_application_is_served_by_any_asgi_server() -> None:
    body = json.dumps(entry(3, "hello"))
    async with serving(WebhookApp(echo, SECRET)) as url, httpx.AsyncClient() as http:
        response = await http.post(url, content=body, headers=headers(entry_id(3), body))
    assert response.text == "hello"


def test_an_action_names_the_chat_of_its_place() -> None:
    action = build_action("send", Place("c2", "discord", None, {"thread_id": "t"}), {"content": "x", "reply_to": None})
    assert action == {"op": "send", "chat_id": "c2", "content": "x", "metadata": {"thread_id": "t"}}
