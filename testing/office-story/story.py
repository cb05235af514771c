"""The story of a new operator, who uses nothing but the pages of the desk.

Connects a bot, lets a person reach an agent, sees that a message is stuck, reads why, delivers it again, and sees it
answered: once with scripts, and once without. See README.md.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from deskpages.telegram import Telegram
from deskpages.user import Complaints, new_context
from playwright.async_api import Browser, Locator, Page, async_playwright, expect
from props.desk import Desk
from props.folder import Folder
from props.judge import require, until_so
from props.postgres import Cluster

from webchat.agent import Agent
from webchat.chromium import launch

DATABASE = "office_story"
ANN = 1001
PATIENCE_SECS = 60
LOOK_MS = 500

expect.set_options(timeout=PATIENCE_SECS * 1000)


@dataclass(frozen=True)
class Names:
    """The names that an operator gives, and the token of the bot."""

    tenant: str
    agent: str
    gateway: str
    token: str
    handle: str


WITH_SCRIPTS = Names("acme", "helper", "gw-helper", "4242:key-of-the-first-bot", "first_bot")
WITHOUT_SCRIPTS = Names("beta", "clerk", "gw-clerk", "4343:key-of-the-second-bot", "second_bot")


class Operator:
    """A person who reads and clicks."""

    def __init__(self, page: Page, has_scripts: bool) -> None:
        self.page = page
        self.clicks = 0
        self._has_scripts = has_scripts

    async def follows(self, name: str) -> None:
        """Clicks a link."""
        await self._click(self.page.get_by_role("link", name=name, exact=True).first)

    async def presses(self, name: str) -> None:
        """Clicks a button."""
        await self._click(self.page.get_by_role("button", name=name, exact=True).first)

    async def fills(self, button: str, fields: dict[str, str]) -> None:
        """Fills the fields of the form that has a button, by their labels, and clicks the button."""
        form = self.page.locator("form").filter(has=self.page.get_by_role("button", name=button, exact=True))
        for label, text in fields.items():
            await form.get_by_label(label, exact=True).fill(text)
        await self._click(form.get_by_role("button", name=button, exact=True))

    async def sees(self, text: str) -> None:
        """Waits until the page shows a text. Without scripts, a person reloads it."""
        await self.sees_in(self.page.locator("main"), text)

    async def sees_in(self, place: Locator, text: str) -> None:
        """Waits until a part of the page shows a text."""
        shown = place.get_by_text(text).first
        if self._has_scripts:
            return await expect(shown).to_be_visible()

        async def is_shown() -> bool:
            if await shown.is_visible():
                return True
            await self.page.wait_for_timeout(LOOK_MS)
            await self.page.reload()
            return await shown.is_visible()

        await until_so(f"the page shows {text}", is_shown, PATIENCE_SECS)

    async def reads(self, name: str) -> str:
        """Reads a value of a list of facts."""
        fact = self.page.locator(".facts div").filter(has_text=name)
        return (await fact.locator("dd").inner_text()).strip()

    async def _click(self, what: Locator) -> None:
        self.clicks += 1
        await what.click()


class Story:
    """One operator's way, from the login to the answer."""

    def __init__(self, desk: Desk, telegram: Telegram, names: Names, operator: Operator) -> None:
        self._desk = desk
        self._telegram = telegram
        self._names = names
        self._operator = operator
        # The secret of the agent's gateway, as a page showed it.
        self._secret = ""

    async def run(self) -> None:
        """Does everything."""
        await self._step("logs in", self._log_in)
        await self._step("makes a tenant and an agent", self._make_agent)
        await self._step("connects a bot", self._connect_bot)
        await self._step("links a person", self._link_person)
        await self._step("sees a parked message", self._lose_a_message)
        await self._step("learns the reason", self._read_reason)
        await self._step("delivers it again, and sees the answer", self._deliver_again)

    async def _step(self, name: str, step: Callable[[], Awaitable[None]]) -> None:
        began = time.monotonic()
        await step()
        print(f"{self._names.tenant}: {name} ({time.monotonic() - began:.1f} s)", flush=True)

    async def _log_in(self) -> None:
        link = (await self._desk.ask("admin", "link"))["url"]
        await self._operator.page.goto(link)
        await self._operator.presses("Log in")
        await self._operator.sees("Tenants")

    async def _make_agent(self) -> None:
        operator, names = self._operator, self._names
        await operator.follows("New tenant")
        await operator.fills("Create the tenant", {"Name": names.tenant})
        await operator.sees("The tenant exists.")
        await operator.follows("New agent")
        await operator.fills("Create the agent", {"Name": names.agent})
        await operator.sees("The agent exists.")
        gateway = {"New gateway, for the client of the agent": names.gateway}
        await operator.fills("Create it and show its secret", gateway)
        self._secret = await operator.reads("GATEWAY_RELAY_SECRET")
        await operator.follows("Done")

    async def _connect_bot(self) -> None:
        operator = self._operator
        await operator.follows("Bots")
        await operator.follows("Connect a bot")
        await operator.follows("telegram")
        await operator.fills("Connect the bot", {"Token": self._names.token})
        await operator.sees("The bot is connected.")
        await until_so("the bot has no fault", self._checks_the_bot, PATIENCE_SECS)

    async def _checks_the_bot(self) -> bool:
        operator = self._operator
        if await operator.page.get_by_text("The bot has no known fault.").is_visible():
            return True
        await operator.page.wait_for_timeout(LOOK_MS)
        await operator.follows("Check again")
        return False

    async def _link_person(self) -> None:
        operator = self._operator
        await operator.follows("People and grants")
        person = {"Agent": self._names.agent, "Person, by the platform's id": str(ANN)}
        await operator.fills("Link the person", person)
        await operator.sees("The person reaches the agent from now on.")

    async def _lose_a_message(self) -> None:
        """The fault: an inbox for a single entry gets two while its agent sleeps."""
        operator, names = self._operator, self._names
        await self._desk.ask("tenant", "quota", "--tenant", names.tenant, "pending-entries=1")
        await operator.follows("Overview")
        for text in ("first", "second"):
            await self._telegram.says(names.token, ANN, text)
        parked = operator.page.locator(".tiles div").filter(has_text="Parked entries")
        await operator.sees_in(parked, "1")

    async def _read_reason(self) -> None:
        operator, names = self._operator, self._names
        await operator.follows("Stuck")
        await operator.sees("the agent's inbox was full")
        await operator.follows(f"entry 2 of {names.agent}")
        await operator.sees("It reached no agent: the agent's inbox was full.")
        await operator.sees("Let the agent take its waiting entries")

    async def _deliver_again(self) -> None:
        operator, names = self._operator, self._names
        agent = Agent(self._desk.back.port, names.gateway, self._secret, "telegram")
        await agent.wake(lambda event: [{"op": "send", "content": f"You wrote {event['text']}"}])
        try:
            await until_so("the first message is answered", lambda: self._is_answered("first"), PATIENCE_SECS)
            await operator.presses("Deliver again")
            await operator.sees("The entry waits again, under a new number.")
            await operator.sees("The agent acknowledged it.")
            await operator.sees("The agent wrote in this chat: delivered")
            await until_so("the second message is answered", lambda: self._is_answered("second"), PATIENCE_SECS)
            await operator.follows(names.agent)
            await operator.sees("awake")
        finally:
            await agent.sleep()

    async def _is_answered(self, text: str) -> bool:
        told = await self._telegram.told(self._names.token, ANN)
        return f"You wrote {text}" in told


async def play(browser: Browser, desk: Desk, telegram: Telegram, names: Names, has_scripts: bool) -> int:
    """Plays the story, and returns the number of clicks."""
    complaints = Complaints()
    watch = complaints if has_scripts else None
    context = await new_context(browser, watch, java_script_enabled=has_scripts)
    operator = Operator(await context.new_page(), has_scripts)
    await Story(desk, telegram, names, operator).run()
    await context.close()
    found = [*complaints.console, *complaints.policy]
    require(not found, f"the browser complains: {'; '.join(found[:3])}")
    return operator.clicks


async def prove() -> int:
    """Plays the story twice on a new desk, and returns the number of clicks."""
    folder = Folder("nightdesk-office-story-", "KILL")
    cluster = Cluster.shared()
    await cluster.create_database(DATABASE)
    telegram = Telegram(folder.path)
    desk: Desk | None = None
    try:
        await telegram.open()
        for names in (WITH_SCRIPTS, WITHOUT_SCRIPTS):
            await telegram.furnish(names.token, names.handle, {"Ann": ANN})
        binary = Path(os.environ["NIGHTDESK_BIN"])
        desk = Desk(binary, folder.path, cluster, DATABASE, telegram.settings)
        await desk.migrate()
        await desk.start()
        await desk.log_in()
        async with async_playwright() as driver:
            browser = await launch(driver)
            clicks = await play(browser, desk, telegram, WITH_SCRIPTS, True)
            clicks += await play(browser, desk, telegram, WITHOUT_SCRIPTS, False)
            await browser.close()
        return clicks
    finally:
        if desk is not None:
            await desk.stop()
        await telegram.close()
        await cluster.drop_database(DATABASE)
        folder.remove()


def main() -> int:
    """Runs the proof."""
    clicks = asyncio.run(prove())
    print(f"office-story: stories=2 clicks={clicks} parked=2 answered=2")
    return 0


if __name__ == "__main__":
    sys.exit(main())
