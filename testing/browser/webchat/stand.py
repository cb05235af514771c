"""The environment of the scenes: a desk on a fresh database, a page, an agent and a browser.

The only file that imports the set-up of desks and databases from the other suites.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from props.desk import Desk
from props.folder import Folder
from props.postgres import Cluster
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    async_playwright,
)

from webchat.agent import Agent
from webchat.chromium import launch

DATABASE = "webchat_look"
SETTINGS = '{"title": "Owl", "greeting": "What can I look up for you?"}'
# If scripts are disabled from outside, the parser still assumes that they run.
SCRIPTLESS = "--blink-settings=scriptEnabled=false"
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}

# Written where a test can read it: a browser reports violations only on its console.
WATCH_POLICY = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


@dataclass
class Stand:
    """The objects that a scene may use."""

    desk: Desk
    agent: Agent
    browser: Browser
    scriptless: Browser
    url: str
    linked_url: str
    shots: Path
    complaints: list[str] = field(default_factory=list)
    taken: list[Path] = field(default_factory=list)

    @asynccontextmanager
    async def visitor(
        self, size: dict[str, int] = DESKTOP, **options: Any
    ) -> AsyncIterator[BrowserContext]:
        """Opens a browser of a new visitor."""
        phone = {"is_mobile": True, "has_touch": True} if size is PHONE else {}
        context = await self.browser.new_context(
            viewport=size, locale="en-GB", timezone_id="Europe/Berlin", **phone, **options
        )
        await context.add_init_script(WATCH_POLICY)
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.complaints.append(f"script: {error.error}"))
        try:
            yield context
        finally:
            await context.close()

    @asynccontextmanager
    async def page(
        self, size: dict[str, int] = DESKTOP, **options: Any
    ) -> AsyncIterator[Page]:
        """Opens the page as a new visitor."""
        async with self.visitor(size, **options) as context:
            page = await context.new_page()
            await page.goto(self.url)
            yield page

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    async def shoot(self, page: Page, name: str) -> None:
        """Takes a screenshot."""
        await page.evaluate("document.fonts.ready")
        path = self.shots / f"{name}.png"
        await page.screenshot(path=path, animations="disabled")
        self.taken.append(path)


@asynccontextmanager
async def stand(shots: Path) -> AsyncIterator[Stand]:
    """Sets up the environment, and removes it again."""
    folder = Folder("nightdesk-browser-", "KILL")
    cluster = Cluster.shared()
    await cluster.create_database(DATABASE)
    desk = Desk(Path(os.environ["NIGHTDESK_BIN"]).resolve(), folder.path, cluster, DATABASE)
    try:
        await desk.migrate()
        await desk.start()
        await desk.log_in()
        await desk.register_agent()
        url, linked_url = await page_of(desk, "owl", True), await page_of(desk, "heron", False)
        gateway = await desk.create_gateway("gw-owl")
        agent = Agent(desk.back.port, gateway.name, gateway.secret)
        async with async_playwright() as driver:
            browser, scriptless = await launch(driver), await launch(driver, SCRIPTLESS)
            yield Stand(desk, agent, browser, scriptless, url, linked_url, shots)
            await agent.sleep()
            await browser.close()
            await scriptless.close()
    finally:
        await desk.stop()
        await cluster.drop_database(DATABASE)
        folder.remove()


async def page_of(desk: Desk, handle: str, is_open: bool) -> str:
    """Creates a bot with a page, with the operator's commands."""
    words = ["bot", "create", "--tenant", desk.tenant, "--platform", "webchat"]
    bot = await desk.ask(*words, "--handle", handle, "--settings", SETTINGS)
    if is_open:
        words = ["grant", "create", "--tenant", desk.tenant, "--agent", desk.agent]
        await desk.ask(*words, "--bot", bot["bot_id"], "--chat", "*", "--open")
    return bot["url"]
