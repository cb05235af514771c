"""Looks at every page of the dashboard, on a desk with a history that includes faults.

usage: look.py FOLDER

Screenshots go to FOLDER. Prints a line for everything that is wrong, and the sum. See README.md.
"""

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from deskpages.user import Complaints, log_in, new_context
from history import History
from pages import DeskPage, desk_pages
from playwright.async_api import Browser, Page, StorageState, async_playwright

from webchat.chromium import launch
from webchat.stand import DESKTOP, PHONE

OK = 200
AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
SIZES = {"desktop": DESKTOP, "phone": PHONE}
SCHEMES = ("light", "dark")
LINKS = """[...document.querySelectorAll("a[href]")].map((a) => a.href)"""
RUN_AXE = """
async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map(
  (rule) => `${rule.id}: ${rule.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`)
"""
# Everything that a keyboard must reach. Of radio buttons there are none.
REACHABLE = """
[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, [tabindex='0']")]
  .filter((element) => element.checkVisibility()).length
"""
# The state of the focus: it has left the page or begins anew, or it is shown.
FOCUS = """
() => {
  const element = document.activeElement;
  if (element === document.body || element.classList.contains("skip")) return "over";
  return parseFloat(getComputedStyle(element).outlineWidth) >= 2 ? "shown" : "unseen";
}
"""


@dataclass
class Sums:
    """The figures of the proof, and everything that is wrong."""

    pages: int = 0
    shots: int = 0
    axe: list[str] = field(default_factory=list)
    complaints: Complaints = field(default_factory=Complaints)
    wrong: list[str] = field(default_factory=list)

    @property
    def findings(self) -> list[str]:
        """Returns everything that is wrong."""
        return [*self.axe, *self.complaints.console, *self.complaints.policy, *self.wrong]


class Look:
    """A look at the pages of a desk."""

    def __init__(self, browser: Browser, url: str, state: StorageState | None, folder: Path) -> None:
        self.sums = Sums()
        self._browser = browser
        self._url = url
        self._state = state
        self._folder = folder
        self._links: set[str] = set()
        # By size and scheme: a browser with the content policy, and one for the rules of accessibility, whose script
        # the policy would refuse.
        self._watched: dict[tuple[str, str], Page] = {}
        self._judging: dict[tuple[str, str], Page] = {}
        self._plain: Page

    async def open(self) -> None:
        """Opens the browsers."""
        for size, view in SIZES.items():
            for scheme in SCHEMES:
                options = {"color_scheme": scheme, "storage_state": self._state}
                watched = await new_context(self._browser, self.sums.complaints, view, **options)
                judging = await new_context(self._browser, None, view, bypass_csp=True, **options)
                self._watched[size, scheme] = await watched.new_page()
                self._judging[size, scheme] = await judging.new_page()
        options = {"storage_state": self._state, "java_script_enabled": False}
        self._plain = await (await new_context(self._browser, None, **options)).new_page()

    async def at(self, page: DeskPage) -> None:
        """Looks at a page in every size and colour scheme, without scripts, and by keyboard alone."""
        self.sums.pages += 1
        for size, scheme in self._watched:
            await self._shoot(page, size, scheme)
            await self._judge(page.name, page.path, size, scheme)
        await self._use_plainly(page)

    async def at_refusals(self) -> None:
        """Looks at the page of an address where nothing is, and at the login. A browser reports an error's status."""
        self.sums.pages += 2
        for name, path in (("refusal", "/t/nowhere"), ("login", "/login")):
            for (size, scheme), view in self._judging.items():
                await self._judge(name, path, size, scheme)
                await self._save(view, f"{name}-{size}-{scheme}")

    def check_links(self, pages: list[DeskPage]) -> None:
        """Checks that every linked page was looked at."""
        for link in sorted(self._links):
            url = urlsplit(link)
            is_own = f"{url.scheme}://{url.netloc}" == self._url
            if not is_own or not any(page.form.fullmatch(url.path) for page in pages):
                self.sums.wrong.append(f"a linked page was not looked at: {link}")

    async def _shoot(self, page: DeskPage, size: str, scheme: str) -> None:
        """Takes a screenshot, with the content policy and everything that a browser reports."""
        view, what = self._watched[size, scheme], f"{page.name}, {size}, {scheme}"
        answer = await view.goto(f"{self._url}{page.path}")
        if answer is None or answer.status != OK:
            self.sums.wrong.append(f"{what}: {answer.status if answer else 'no answer'}")
        await self._save(view, f"{page.name}-{size}-{scheme}")
        wide = await view.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            self.sums.wrong.append(f"{what}: {wide} px too wide")
        self._links |= {link.split("#")[0] for link in await view.evaluate(LINKS)}

    async def _judge(self, name: str, path: str, size: str, scheme: str) -> None:
        """Applies the rules of accessibility."""
        view = self._judging[size, scheme]
        await view.goto(f"{self._url}{path}")
        await view.add_script_tag(path=AXE)
        found = await view.evaluate(RUN_AXE)
        self.sums.axe += [f"{name}, {size}, {scheme}: {text}" for text in found]

    async def _use_plainly(self, page: DeskPage) -> None:
        """Reads the page without scripts: it has its heading, and a keyboard reaches everything."""
        view = self._plain
        await view.goto(f"{self._url}{page.path}")
        if await view.locator("main h1").count() != 1:
            self.sums.wrong.append(f"{page.name}: not one heading without scripts")
        await view.keyboard.press("Tab")
        if await view.locator(".skip:focus").count() != 1:
            self.sums.wrong.append(f"{page.name}: the first key does not reach the link to the content")
        reached, reachable = 1, await view.evaluate(REACHABLE)
        while reached < reachable:
            await view.keyboard.press("Tab")
            state = await view.evaluate(FOCUS)
            if state == "over":
                break
            reached += 1
            if state == "unseen":
                self.sums.wrong.append(f"{page.name}: element {reached} does not show the focus")
        if reached < reachable:
            self.sums.wrong.append(f"{page.name}: a keyboard reaches {reached} of {reachable} elements")

    async def _save(self, view: Page, name: str) -> None:
        await view.screenshot(path=self._folder / f"{name}.png", full_page=True, animations="disabled")
        self.sums.shots += 1


async def look(folder: Path) -> Sums:
    """Looks at everything."""
    history = History()
    try:
        await history.set_up()
        link = (await history.desk.ask("admin", "link"))["url"]
        pages = desk_pages(history.names)
        async with async_playwright() as driver:
            browser = await launch(driver)
            state = await log_in(browser, link)
            looking = Look(browser, history.desk.front.public_url, state, folder)
            await looking.open()
            for page in pages:
                await looking.at(page)
                print(page.name, flush=True)
            await looking.at_refusals()
            looking.check_links(pages)
            await browser.close()
        return looking.sums
    finally:
        await history.take_down()


def main() -> int:
    """Runs the proof."""
    sums = asyncio.run(look(Path(sys.argv[1])))
    for finding in sums.findings:
        print("WRONG ", finding, flush=True)
    complaints = sums.complaints
    print(
        f"office-look: pages={sums.pages} shots={sums.shots} axe_violations={len(sums.axe)} "
        f"console_errors={len(complaints.console)} csp_violations={len(complaints.policy)}"
    )
    return 1 if sums.findings else 0


if __name__ == "__main__":
    sys.exit(main())
