"""The examples, run as a reader runs them: in processes of their own."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

import httpx
import pytest
from conftest import serving, until, within
from fakedesk import GATEWAY, SECRET, FakeDesk, entry, entry_id
from realdesk import free_port
from test_poll import PollDesk
from test_webhook import SECRET as WEBHOOK_SECRET
from test_webhook import post

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SOURCES = Path(__file__).resolve().parents[1] / "src"
# A new interpreter on a busy machine takes its time.
START_WAIT = 30.0


@asynccontextmanager
async def running(name: str, url: str, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    login = {"NIGHTDESK_URL": url, "NIGHTDESK_GATEWAY": GATEWAY, "NIGHTDESK_SECRET": SECRET}
    env = {**os.environ, **login, **variables, "PYTHONPATH": str(SOURCES)}
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(sys.executable, str(EXAMPLES / name), env=env, stdout=pipe)
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


def lines_of(name: str) -> int:
    return len((EXAMPLES / name).read_text().splitlines())


def test_the_examples_are_short() -> None:
    assert lines_of("echo.py") <= 15
    assert lines_of("webhook_function.py") <= 20


def test_the_readme_shows_the_first_example() -> None:
    readme = (EXAMPLES.parent / "README.md").read_text()
    assert (EXAMPLES / "echo.py").read_text() in readme


async def test_echo(desk: FakeDesk) -> None:
    async with running("echo.py", desk.url) as child:
        line = await within(desk.lines.get(), START_WAIT)
        await line.send(entry(1, "hello"))
        frame = await line.next("outbound")
        assert (frame["action"]["content"], frame["action"]["reply_to"]) == ("hello", "m1")
        assert await line.acked() == entry_id(1)
        child.send_signal(signal.SIGTERM)
        await line.next("going_idle")
        assert await line.close_code() == 1000
        assert await within(child.wait()) == 0


async def test_sleeper(desk: FakeDesk) -> None:
    secret, port = "0123456789abcdef", free_port()
    options = {"NIGHTDESK_WAKE_SECRET": secret, "NIGHTDESK_WAKE_PORT": str(port), "NIGHTDESK_SLEEP_AFTER": "5"}
    async with running("sleeper.py", desk.url, **options) as child, httpx.AsyncClient() as http:
        line = await within(desk.lines.get(), START_WAIT)
        async with asyncio.timeout(START_WAIT):
            while (await line.frames.get())["type"] != "going_idle":
                pass
        assert child.stdout is not None
        assert await within(child.stdout.readline()) == b"asleep\n"
        assert (await http.get(f"http://127.0.0.1:{port}/wake/{secret}")).status_code == 204
        line = await within(desk.lines.get())
        await line.send(entry(1, "hello"))
        assert await line.acked() == entry_id(1)
        child.send_signal(signal.SIGTERM)
        await line.next("going_idle")
        assert await within(child.wait()) == 0


async def test_poll() -> None:
    poll = PollDesk()
    async with serving(poll) as poll.url, running("poll.py", poll.url) as child:
        await until(lambda: poll.lines, START_WAIT)
        poll.deliver(entry(1, "hello"))
        await until(lambda: poll.bodies("send"))
        assert poll.bodies("send")[0]["action"]["content"] == "hello"
        await until(lambda: poll.bodies("ack"))
        child.send_signal(signal.SIGINT)
        assert await within(child.wait()) == 0
        assert poll.bodies("idle")


async def test_webhook_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTDESK_WEBHOOK_SECRET", WEBHOOK_SECRET)
    monkeypatch.syspath_prepend(EXAMPLES)
    app = import_module("webhook_function").app

    assert (await post(app, entry(1, "hello"))).text == "You wrote: hello"
