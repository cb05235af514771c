"""A user's browser: the login, and everything that the browser complains about."""

from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, StorageState

from webchat.stand import DESKTOP, PHONE, WATCH_POLICY

POLICY = "policy: "


@dataclass
class Complaints:
    """Everything that browsers complained about."""

    console: list[str] = field(default_factory=list)
    policy: list[str] = field(default_factory=list)

    def listen(self, context: BrowserContext) -> None:
        """Records the complaints of a context."""
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.console.append(f"script: {error.error}"))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            kind = self.policy if message.text.startswith(POLICY) else self.console
            kind.append(f"{message.text} at {message.location.get('url', '')}")


async def new_context(
    browser: Browser, complaints: Complaints | None, size: dict[str, int] = DESKTOP, **options: Any
) -> BrowserContext:
    """Opens a browser of a user. Without `complaints`, it is not watched."""
    phone = {"is_mobile": True, "has_touch": True} if size is PHONE else {}
    context = await browser.new_context(
        viewport=size, locale="en-GB", timezone_id="Europe/Berlin", **phone, **options
    )
    if complaints is not None:
        await context.add_init_script(WATCH_POLICY)
        complaints.listen(context)
    return context


async def log_in(browser: Browser, link: str) -> StorageState:
    """Logs in with a link, and returns the cookies of the session."""
    context = await new_context(browser, None)
    page = await context.new_page()
    await page.goto(link)
    await page.get_by_role("button", name="Log in").click()
    await page.wait_for_url("**/")
    state = await context.storage_state()
    await context.close()
    return state
