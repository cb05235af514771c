"""Proves logins of users: at a certified provider in a real browser, and at a hostile one.

usage: office.py CASES

Prints a line for each case, and the sum with the figures of the tests of routes in CASES. See README.md.
"""

import asyncio
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright, expect
from props.desk import Desk
from props.folder import Folder
from props.judge import require
from props.postgres import Cluster
from props.process import end, environment, free_port, spawn

from webchat.chromium import launch

HERE = Path(__file__).parent
DATABASE = "office_logins"
SECRET = "a secret of the desk at the provider"
READY_SECS = 30
# How the desk refuses a token or a code, a provider that fails, and an answer for another login: status and text.
REFUSED = (401, "the login could not be completed; begin again")
FAILED = (502, "the login provider did not answer as it should")
FOREIGN = (401, "it was begun in another browser")
# The cases in which the provider fails, instead of sending a wrong token or refusing a code.
FAILING = ("no-token", "failing-endpoint", "redirecting-endpoint", "endless-answer")

LOGINS = """
[[logins]]
name = "sso"
label = "Test SSO"
issuer = "http://127.0.0.1:{good}"
client_id = "nightdesk"
client_secret_file = "sso.secret"
scopes = ["profile", "email", "groups"]
roles = [
    {{ value = "desk-operators", role = "operator" }},
    {{ value = "night-members", role = "member:night" }},
]
[[logins]]
name = "hostile"
issuer = "http://127.0.0.1:{hostile}"
client_id = "nightdesk"
client_secret_file = "sso.secret"
roles = [{{ value = "desk-operators", role = "operator" }}]
"""


class Cases:
    """The cases so far."""

    def __init__(self) -> None:
        self.count = 0
        self.wrong = 0

    def note(self, name: str, is_right: bool, told: str = "") -> None:
        """Records a case."""
        self.count += 1
        self.wrong += not is_right
        print("ok    " if is_right else "WRONG ", name, "" if is_right else told, flush=True)


class KeepRedirect(urllib.request.HTTPRedirectHandler):
    """Returns redirects instead of following them."""

    def redirect_request(self, *_: object) -> None:
        return None


OPENER = urllib.request.build_opener(KeepRedirect)


class Answer:
    """The parts of a response that the proof reads."""

    def __init__(self, response: urllib.error.HTTPError) -> None:
        self.status = response.status
        self.location = response.headers.get("location") or ""
        self.cookies = {}
        for line in response.headers.get_all("set-cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            self.cookies[name] = value
        self.text = response.read().decode()

    @property
    def session(self) -> str:
        """The session's cookie, or an empty text."""
        return self.cookies.get("nightdesk", "")


def get(url: str, cookie: str = "") -> Answer:
    """Makes a request without following redirects."""
    request = urllib.request.Request(url, headers={"cookie": cookie} if cookie else {})
    try:
        return Answer(OPENER.open(request, timeout=20))
    except urllib.error.HTTPError as error:
        return Answer(error)


def query(url: str) -> dict[str, str]:
    """Returns the parameters of a URL."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))


class HostileLogins:
    """Logins at the hostile provider, each begun anew."""

    def __init__(self, desk: str) -> None:
        self._desk = desk

    def begin(self) -> tuple[dict[str, str], str]:
        """Begins a login. Returns the parameters of the redirect, and the login's cookie."""
        begun = get(f"{self._desk}/login/to/hostile?return_to=/")
        require(begun.status == 303, f"a login does not begin: {begun.status} {begun.text}")
        return query(begun.location), f"nightdesk-login={begun.cookies['nightdesk-login']}"

    def finish(self, cookie: str, **answer: str) -> Answer:
        """Brings an answer of the provider."""
        return get(f"{self._desk}/login/from/hostile?{urllib.parse.urlencode(answer)}", cookie)

    def with_token(self, case: str) -> Answer:
        """Logs in with the token of a case."""
        asked, cookie = self.begin()
        return self.finish(cookie, code=f"{case}~{asked['nonce']}", state=asked["state"])


def is_refused(answer: Answer, want: tuple[int, str]) -> bool:
    """True if a response is a refusal of this kind, without a session. Another one may hide a hole."""
    return answer.status == want[0] and want[1] in answer.text and not answer.session


def hostile_logins(desk: str, names: list[str], cases: Cases) -> None:
    """Runs every case of the hostile provider, and changed callbacks."""
    logins = HostileLogins(desk)
    for name in names:
        answer = logins.with_token(name)
        is_right = (
            answer.status == 303 and bool(answer.session)
            if name.startswith("good")
            else is_refused(answer, FAILED if name in FAILING else REFUSED)
        )
        cases.note(f"token: {name}", is_right, f"{answer.status} {answer.text}")
    changes = {
        "state of another login": ({"state": logins.begin()[0]["state"]}, FOREIGN),
        "no state": ({"state": ""}, FOREIGN),
        "issuer of another provider": ({"iss": "https://login.example.org"}, FOREIGN),
        "declined": ({"error": "access_denied"}, (401, "The login was declined")),
        "no code": ({"code": ""}, REFUSED),
    }
    for name, (change, want) in changes.items():
        asked, cookie = logins.begin()
        answer = logins.finish(cookie, **{"code": f"good~{asked['nonce']}", "state": asked["state"]} | change)
        cases.note(f"callback: {name}", is_refused(answer, want), f"{answer.status} {answer.text}")
    asked, cookie = logins.begin()
    right = {"code": f"good~{asked['nonce']}", "state": asked["state"]}
    cookies = {
        "no cookie": "",
        "cookie of another login": logins.begin()[1],
        "changed cookie": cookie[:-1] + ("A" if cookie[-1] != "A" else "B"),
    }
    for name, shown in cookies.items():
        answer = logins.finish(shown, **right)
        cases.note(f"callback: {name}", is_refused(answer, FOREIGN), f"{answer.status} {answer.text}")
    answer = get(f"{desk}/login/from/sso?{urllib.parse.urlencode(right)}", cookie)
    cases.note("callback: of another provider", is_refused(answer, FOREIGN), f"{answer.status} {answer.text}")
    answer = get(f"{desk}/login/to/hostile?return_to=//evil.example")
    attempt = f"nightdesk-login={answer.cookies['nightdesk-login']}"
    asked = query(answer.location)
    answer = logins.finish(attempt, code=f"good~{asked['nonce']}", state=asked["state"])
    cases.note("return to another site", answer.location == "/", answer.location)
    answer = logins.with_token("good")
    is_right = answer.status == 303 and bool(answer.session)
    cases.note("a right login after all", is_right, f"{answer.status} {answer.text}")


async def log_in(page: Page, desk: str, account: str) -> None:
    """Logs an account in at the certified provider."""
    await page.goto(f"{desk}/")
    await page.get_by_role("link", name="Log in with Test SSO").click()
    await page.locator("input[name=login]").fill(account)
    await page.locator("input[name=password]").fill("any")
    await page.get_by_role("button", name="Sign-in").click()
    await page.get_by_role("button", name="Continue").click()


async def person(browser: Browser, desk: str, account: str) -> Page:
    """Opens a browser of a new person, and logs in."""
    context = await browser.new_context(locale="en-GB")
    page = await context.new_page()
    await log_in(page, desk, account)
    return page


async def is_shown(page: Page, text: str) -> bool:
    """True if the page shows a text."""
    try:
        await expect(page.get_by_text(text, exact=False).first).to_be_visible(timeout=10_000)
    except AssertionError:
        return False
    return True


async def real_logins(desk: str, cases: Cases) -> None:
    """Logs in at the certified provider in Chromium."""
    async with async_playwright() as driver:
        browser = await launch(driver)
        ada = await person(browser, desk, "ada")
        cases.note("an operator sees the tenants", await is_shown(ada, "Tenants"), await ada.content())
        bob = await person(browser, desk, "bob")
        is_home = bob.url.endswith("/t/night") and await is_shown(bob, "owl")
        cases.note("a member of one tenant begins at its agents", is_home, bob.url)
        await bob.goto(f"{desk}/t/other")
        cases.note("another tenant does not exist for a member", await is_shown(bob, "There is nothing here"))
        eve = await person(browser, desk, "eve")
        cases.note("a person without a role has no access", await is_shown(eve, "You have no access yet"))
        cookies = await eve.context.cookies(desk)
        cases.note("and no session", all(cookie["name"] != "nightdesk" for cookie in cookies), str(cookies))
        session = next(cookie for cookie in await ada.context.cookies(desk) if cookie["name"] == "nightdesk")
        is_closed = session["httpOnly"] and session["sameSite"] == "Lax"
        cases.note("no script and no other site has the cookie", is_closed, str(session))
        await ada.goto(f"{desk}/")
        await ada.get_by_role("button", name="Log out").click()
        await ada.goto(f"{desk}/")
        cases.note("after a logout the login is shown", await is_shown(ada, "Log in with Test SSO"), ada.url)
        answer = get(f"{desk}/", f"nightdesk={session['value']}")
        cases.note("and the cookie is of no use", answer.status == 303 and "/login" in answer.location)
        await browser.close()


@asynccontextmanager
async def program(name: str, folder: Path, *words: str) -> AsyncIterator[str]:
    """Runs a provider. Yields its first line."""
    with (folder / f"{name}.log").open("ab") as log:
        words = ("node", str(HERE / f"{name}.mjs"), *words)
        process: Process = await spawn(list(words), HERE, environment(folder), log, piped=True)
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), READY_SECS)
        require(bool(line), f"{name} did not start: {(folder / f'{name}.log').read_text()}")
        yield line.decode()
    finally:
        end(process)
        await process.wait()


async def prove(cases: Cases) -> None:
    """Runs all cases on a desk of its own."""
    folder = Folder("nightdesk-office-", "KILL")
    cluster = Cluster.shared()
    await cluster.create_database(DATABASE)
    good, hostile = free_port(), free_port()
    (folder.path / "sso.secret").write_text(SECRET)
    more = LOGINS.format(good=good, hostile=hostile)
    desk = Desk(Path(os.environ["NIGHTDESK_BIN"]), folder.path, cluster, DATABASE, more, open_ports=(good, hostile))
    try:
        await desk.migrate()
        await desk.start()
        await desk.log_in()
        await desk.register_agent()
        await desk.ask("tenant", "create", "other")
        url = desk.front.public_url
        redirect = f"{url}/login/from/sso"
        async with (
            program("provider", folder.path, str(good), redirect, SECRET),
            program("hostile", folder.path, str(hostile)) as names,
        ):
            await asyncio.to_thread(hostile_logins, url, json.loads(names), cases)
            await real_logins(url, cases)
    finally:
        await desk.stop()
        await cluster.drop_database(DATABASE)
        folder.remove()


def main() -> int:
    """Runs the proof."""
    cases = Cases()
    asyncio.run(prove(cases))
    rows = [[int(field) for field in line.split()] for line in Path(sys.argv[1]).read_text().splitlines()]
    require(bool(rows), "the tests of routes wrote no figures")
    routes, asked, wrong = rows[0][0], sum(row[1] for row in rows), sum(row[2] for row in rows)
    wrong += cases.wrong
    print(f"{asked} cases of routes, {cases.count} of logins")
    print(f"office: routes={routes} cases={asked + cases.count} wrong={wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
