"""Checks of a page, as people see it and as a screen reader reads it."""

from playwright.async_api import Page, expect

PATIENCE_MS = 12_000

expect.set_options(timeout=PATIENCE_MS)


class Broken(AssertionError):
    """A broken promise of the page."""


def require(holds: bool, what: str) -> None:
    """Raises `Broken` with this description unless the condition holds."""
    if not holds:
        raise Broken(what)


async def send(page: Page, text: str) -> None:
    """Types a message and clicks the send button."""
    await page.get_by_label("Your message").fill(text)
    await page.get_by_role("button", name="Send").click()


async def shows(page: Page, text: str) -> None:
    """Waits until the conversation shows a text."""
    await expect(page.locator(".lines").get_by_text(text).first).to_be_visible()


async def texts(page: Page) -> list[str]:
    """Returns the lines of the conversation."""
    return [text.strip() for text in await page.locator(".line .bubble").all_inner_texts()]


async def fits(page: Page) -> None:
    """Checks that nothing overflows at the side, and that the input box is on the screen."""
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    require(wide <= 0, f"the page is {wide} px too wide")
    out = await page.evaluate(
        """[...document.querySelectorAll(".line, .bubble, .bubble pre, .bubble table, .composer")]
           .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length"""
    )
    require(out == 0, f"{out} elements stick out at the side")
    box = await page.locator(".composer").bounding_box()
    height = await page.evaluate("innerHeight")
    require(box is not None and box["y"] + box["height"] <= height, "the box is off the screen")


# Computes the contrast of every text with its background, by the rules of WCAG 2.2.
CONTRAST = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const color = rgba(getComputedStyle(element).backgroundColor);
    return color[3] === 1 ? color.slice(0, 3) : over(color, behind(element.parentElement));
  };
  const light = (color) => {
    const [r, g, b] = color.map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const poor = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const text = walk.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest("[aria-hidden=true], .who, template, noscript")) continue;
    const style = getComputedStyle(element);
    const ground = behind(element);
    const found = ratio(over(rgba(style.color), ground), ground);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (found < (large ? 3 : 4.5)) poor.push(`${found.toFixed(2)} ${text.slice(0, 40)}`);
  }
  const box = document.querySelector("textarea");
  const hint = ratio(rgba(getComputedStyle(box, "::placeholder").color).slice(0, 3), behind(box));
  if (hint < 4.5) poor.push(`${hint.toFixed(2)} the placeholder`);
  return poor;
}
"""

# Collects names, roles and order, as a screen reader needs them.
NAMES = """
() => {
  const wrong = [];
  const name = (e) => e.getAttribute("aria-label") || e.labels?.[0]?.textContent.trim() || e.textContent.trim();
  for (const e of document.querySelectorAll("button, textarea, a[href]")) {
    if (e.checkVisibility() && !name(e)) wrong.push(`${e.tagName} has no name`);
  }
  for (const e of document.querySelectorAll("button, .composer textarea")) {
    const { width, height } = e.getBoundingClientRect();
    if (e.checkVisibility() && !e.classList.contains("again") && Math.min(width, height) < 24) wrong.push(`${name(e)} is too small to hit`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id stands twice");
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) wrong.push("not one main");
  if (!document.documentElement.lang) wrong.push("no language");
  if (!document.title) wrong.push("no title");
  for (const e of document.querySelectorAll("li")) {
    if (!["OL", "UL"].includes(e.parentElement.tagName)) wrong.push("an item outside a list");
  }
  const log = document.querySelector("[role=log]");
  if (log?.getAttribute("aria-live") !== "polite" || !log.getAttribute("aria-label")) wrong.push("the log is not announced");
  if (!document.querySelector("[role=status]")) wrong.push("no status");
  if (document.querySelector("[onclick], [onerror], [onload], .bubble script, .bubble img")) wrong.push("foreign markup");
  return wrong;
}
"""


async def is_accessible(page: Page) -> None:
    """Checks names, roles, sizes and contrast."""
    wrong = await page.evaluate(NAMES)
    require(not wrong, "; ".join(wrong))
    poor = await page.evaluate(CONTRAST)
    require(not poor, f"poor contrast: {'; '.join(poor[:5])}")
