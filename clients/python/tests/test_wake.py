"""Wake calls."""

import asyncio

import httpx
import pytest
from conftest import serving, within

from nightdesk import limits
from nightdesk.wake import WakeListener

SECRET = "0123456789abcdef"


def client(listener: WakeListener) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(listener), base_url="http://agent")


@pytest.mark.parametrize("secret", ["", "x" * 15, "x" * 129, "0123456789abcde/", "0123456789abcdé0"])
def test_a_secret_that_can_be_guessed_or_is_no_path_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="16 to 128"):
        WakeListener(secret)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"/wake/{SECRET}", 204),
        ("GET", f"/wake/{SECRET}?a=1", 204),
        ("POST", f"/wake/{SECRET}", 404),
        ("HEAD", f"/wake/{SECRET}", 404),
        ("GET", f"/wake/{SECRET}/", 404),
        ("GET", f"/wake/{SECRET[:-1]}", 404),
        ("GET", "/wake/", 404),
        ("GET", "/", 404),
    ],
)
async def test_only_a_get_with_the_secret_is_a_call(method: str, path: str, status: int) -> None:
    listener = WakeListener(SECRET)
    async with client(listener) as http:
        response = await http.request(method, path)

    assert response.status_code == status
    woken = asyncio.ensure_future(listener.woken())
    await asyncio.sleep(0.01)
    assert woken.done() == (status == 204)
    woken.cancel()


async def test_a_burst_is_one_wake_and_a_later_call_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SAME_WAKE", 0.5)
    listener = WakeListener(SECRET)
    async with client(listener) as http:
        for _ in range(10):
            await http.get(f"/wake/{SECRET}")
        await within(listener.woken())
        await http.get(f"/wake/{SECRET}")
        with pytest.raises(TimeoutError):
            await within(listener.woken(), 0.05)
        await asyncio.sleep(0.5)
        await http.get(f"/wake/{SECRET}")
        await within(listener.woken())


async def test_a_listener_is_served_by_any_asgi_server() -> None:
    listener = WakeListener(SECRET)
    async with serving(listener) as url, httpx.AsyncClient() as http:
        assert (await http.get(f"{url}/wake/{SECRET}")).status_code == 204
        await within(listener.woken())
