"""The scenes: a visitor's actions and the expected page. Each docstring describes the behaviour that the scene
proves."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from playwright.async_api import Page, expect
from props.judge import until_so

from webchat.agent import saying
from webchat.judge import is_accessible, fits, require, send, shows, texts
from webchat.stand import DESKTOP, PHONE, Stand
from webchat.texts import LONG, NASTY, SHORT

Scene = Callable[[Stand], Awaitable[None]]


async def waking(page: Page) -> None:
    """Waits until the page shows that the desk wakes the agent."""
    await expect(page.get_by_role("status")).to_contain_text("waking…")


async def an_empty_page_says_what_it_is(stand: Stand) -> None:
    """A new visitor reads a description of the chat, and the input box is ready."""
    async with stand.page() as page:
        await expect(page.get_by_role("heading", name="Owl", exact=True)).to_be_visible()
        await expect(page.get_by_text("What can I look up for you?")).to_be_visible()
        await expect(page.get_by_text("private chat between you and Owl")).to_be_visible()
        await expect(page.get_by_label("Your message")).to_be_focused()
        await fits(page)


async def a_sleeper_is_woken_and_answers(stand: Stand) -> None:
    """A visitor sends a message, the desk wakes the agent, and its answer appears without a reload."""
    async with stand.page() as page:
        await send(page, "Is anybody there?")
        await expect(page.locator(".line.visitor .state")).to_have_text("Sent")
        await waking(page)
        await expect(page.locator(".day")).to_have_count(1)
        await page.reload()
        await expect(page.get_by_role("status")).to_contain_text("waking…")
        await page.evaluate("globalThis.sameDocument = true")
        await stand.agent.wake(saying(SHORT))
        await shows(page, "Good evening!")
        require(await page.evaluate("globalThis.sameDocument === true"), "it took a reload")
        await expect(page.get_by_role("status")).to_be_hidden()
        require((await texts(page))[0] == "Is anybody there?", "the question stands above")


async def an_answer_at_once_stands_below_its_question(stand: Stand) -> None:
    """An answer stands below its question, however fast and however often the agent answers."""
    await stand.agent.wake(lambda event: [{"op": "send", "content": f"re {event['text']}"}])
    async with stand.page() as page:
        asked = [f"question {number}" for number in range(5)]
        for text in asked:
            await send(page, text)
            await shows(page, f"re {text}")
        wanted = [line for text in asked for line in (text, f"re {text}")]
        require(await texts(page) == wanted, f"in order: {await texts(page)}")
        await expect(page.locator(".day")).to_have_count(1)
        await page.reload()
        require(await texts(page) == wanted, "and after a reload")


async def a_long_answer_stays_inside(stand: Stand) -> None:
    """Code scrolls in its own box, long words wrap, and links are safe."""
    await stand.agent.wake(saying(LONG))
    for size in (PHONE, DESKTOP):
        async with stand.page(size) as page:
            await send(page, "How would you set it up?")
            await shows(page, "Take the readings")
            await fits(page)
            scrolls = "(e) => e.scrollWidth > e.clientWidth"
            require(await page.locator(".bubble pre").evaluate(scrolls), "code scrolls in itself")
            link = page.locator(".bubble a").first
            require(await link.get_attribute("rel") == "noopener noreferrer nofollow", "its rel")


async def nothing_an_agent_writes_runs(stand: Stand) -> None:
    """The page shows an agent's markup as text."""
    await stand.agent.wake(saying(NASTY))
    async with stand.page() as page:
        await send(page, "<i>hello</i>")
        await shows(page, "<script>")
        require((await texts(page))[0] == "<i>hello</i>", "a visitor's markup is text too")
        require(await page.title() == "Owl", "nothing ran")
        require(await page.locator(".bubble a").count() == 0, "no link to a script")
        await is_accessible(page)


async def two_tabs_show_the_same(stand: Stand) -> None:
    """A message in one tab and its answer appear in the other tab, once."""
    await stand.agent.wake(saying("noted"))
    async with stand.page() as one:
        other = await one.context.new_page()
        await other.goto(stand.url)
        await send(one, "from the first tab")
        for tab in (one, other):
            await shows(tab, "noted")
        await send(other, "from the second")
        await expect(one.locator(".line")).to_have_count(4)
        wanted = ["from the first tab", "noted", "from the second", "noted"]
        for tab in (one, other):
            require(await texts(tab) == wanted, f"{await texts(tab)}")


async def a_reload_keeps_the_transcript(stand: Stand) -> None:
    """After a reload the page shows the earlier messages, with their day."""
    await stand.agent.wake(saying("kept"))
    async with stand.page() as page:
        await send(page, "keep this")
        await shows(page, "kept")
        await page.reload()
        require(await texts(page) == ["keep this", "kept"], "both lines")
        await expect(page.locator(".day")).to_have_text("Today")


async def without_a_script_it_works(stand: Stand) -> None:
    """Without scripts there is a form, a redirect, the transcript, and a hint to reload."""
    await stand.agent.wake(saying("by form too"))
    context = await stand.scriptless.new_context(viewport=PHONE)
    async with context, await context.new_page() as page:
        await page.goto(stand.url)
        # Text in a `noscript` element is not found by a search for texts.
        reload = page.locator("noscript a")
        await expect(reload).to_be_visible()
        await page.get_by_label("Your message").fill("no script here")
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_text("no script here")).to_be_visible()

        async def answered() -> bool:
            await reload.click()
            return await page.get_by_text("by form too").count() > 0

        await until_so("the answer is there after a reload", answered)
        await page.reload()
        require(await page.locator(".line").count() == 2, "a reload sends nothing again")


async def a_forged_cookie_is_somebody_new(stand: Stand) -> None:
    """A forged cookie causes no error: the chat is empty, and writing works."""
    await stand.agent.wake(saying("hello, stranger"))
    async with stand.page() as page:
        await send(page, "my secret")
        await shows(page, "hello, stranger")
        cookie = next(c for c in await page.context.cookies() if c["name"] == "nightdesk_chat")
        require(bool(cookie["httpOnly"]) and cookie["sameSite"] == "Lax", "the cookie's flags")
        mark = "0" if cookie["value"][-1] != "0" else "1"
        await page.context.add_cookies([{**cookie, "value": cookie["value"][:-1] + mark}])
        await page.reload()
        require(await texts(page) == [], "nothing of the other's is shown")
        await send(page, "who am I?")
        await shows(page, "hello, stranger")


async def the_keyboard_is_enough(stand: Stand) -> None:
    """Enter sends, Shift+Enter breaks the line, the focus is visible, and the keyboard reaches every element."""
    await stand.agent.wake(saying("read by ear"))
    async with stand.page() as page:
        await page.keyboard.type("first line")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("second line")
        await page.keyboard.press("Enter")
        await shows(page, "read by ear")
        require((await texts(page))[0] == "first line\nsecond line", "two lines in one message")
        await expect(page.get_by_label("Your message")).to_be_focused()
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("button", name="Send")).to_be_focused()
        outline = await page.locator("#send").evaluate("(e) => getComputedStyle(e).outlineWidth")
        require(outline == "3px", f"focus is seen: {outline}")
        await page.keyboard.press("Shift+Tab")
        await page.keyboard.press("Shift+Tab")
        await expect(page.get_by_role("log")).to_be_focused()
        await page.keyboard.press("Shift+Tab")
        skip = page.get_by_role("link", name="Skip to the message box")
        await expect(skip).to_be_focused()
        await expect(skip).to_be_in_viewport()
        await page.keyboard.press("Enter")
        await page.keyboard.type("and on")
        await expect(page.get_by_label("Your message")).to_have_value("and on")


async def a_message_that_fails_is_tried_again(stand: Stand) -> None:
    """The page reports the failure and offers a retry, which sends the same message."""
    await stand.agent.wake(saying("got it once"))
    async with stand.page() as page:
        tries = []

        async def refuse(route):
            tries.append(route.request.post_data_json["nonce"])
            await route.abort()

        await page.route("**/messages", refuse)
        await send(page, "through the storm")
        await expect(page.locator(".line.failed .state")).to_contain_text("Not sent", timeout=30_000)
        await expect(page.get_by_role("alert")).to_be_hidden()
        await page.unroute("**/messages")
        await page.get_by_role("button", name="Try again").click()
        await shows(page, "got it once")
        require(len(set(tries)) == 1 and len(tries) > 2, f"one name for all tries: {tries}")
        require(await texts(page) == ["through the storm", "got it once"], "and one line")
    expected(stand, "net::ERR_FAILED")


async def a_desk_that_dies_is_found_again(stand: Stand) -> None:
    """The stream reconnects by itself and delivers the missed lines."""
    await stand.agent.wake(saying("before"))
    async with stand.page() as page:
        await send(page, "still there?")
        await shows(page, "before")
        visitor = stand.agent.heard[-1]["source"]["chat_id"]
        await stand.desk.killed()
        await stand.agent.sleep()
        await expect(page.get_by_text("Reconnecting…")).to_be_visible()
        await stand.desk.start()
        await stand.agent.wake()
        await stand.agent.says(visitor, "after")
        await shows(page, "after")
        await expect(page.get_by_text("Private chat", exact=True)).to_be_visible()
        require(await texts(page) == ["still there?", "before", "after"], "nothing twice")
    expected(stand, "net::ERR_")


async def buttons_are_pressed_once(stand: Stand) -> None:
    """A question has buttons, and a press sends the label."""
    options = [{"id": "yes", "label": "Yes, please"}, {"id": "no", "label": "Not now"}]
    prompt = {"op": "prompt", "content": "Shall I book it?", "prompt_kind": "choice"}
    prompt |= {"prompt_id": "p1", "options": options}
    await stand.agent.wake(lambda event: [] if event.get("prompt_response") else [prompt])
    async with stand.page(PHONE) as page:
        await send(page, "A table for two")
        await page.get_by_role("button", name="Yes, please").click()
        await shows(page, "Yes, please")
        await expect(page.locator(".line.visitor .state").last).to_have_text("Sent")
        while "prompt_response" not in stand.agent.heard[-1]:
            await asyncio.sleep(0.05)
        pressed = stand.agent.heard[-1]["prompt_response"]
        require(pressed["option_id"] == "yes" and pressed["prompt_id"] == "p1", f"{pressed}")
        await is_accessible(page)


async def who_is_not_linked_is_told_their_code(stand: Stand) -> None:
    """A visitor without a link gets a friendly message and a code; the unsent text stays in the box."""
    async with stand.visitor() as context:
        page = await context.new_page()
        await page.goto(stand.linked_url)
        await send(page, "let me in")
        await expect(page.get_by_role("alert")).to_contain_text("for linked people")
        code = await page.locator("#notice-code").inner_text()
        require(re.fullmatch("[0-9a-f]{32}", code) is not None, f"a code: {code}")
        await is_accessible(page)
        await stand.shoot(page, "desktop-light-linked-only")
        await page.reload()
        require(await texts(page) == [], "nothing was kept")
    expected(stand, "403")


async def a_status_passes(stand: Stand) -> None:
    """The page shows typing, and hides it by itself."""
    await stand.agent.wake(saying("hm"))
    async with stand.page() as page:
        await send(page, "think about it")
        await shows(page, "hm")
        visitor = stand.agent.heard[-1]["source"]["chat_id"]
        await stand.agent.does(visitor, op="typing")
        await expect(page.get_by_role("status")).to_contain_text("Owl is typing…")
        await expect(page.get_by_role("status")).to_be_hidden(timeout=14_000)


async def edits_and_deletions_are_shown(stand: Stand) -> None:
    """An edited line stays in its place."""
    await stand.agent.wake(saying("rough"))
    async with stand.page() as page:
        await send(page, "spell it")
        await shows(page, "rough")
        visitor = stand.agent.heard[-1]["source"]["chat_id"]
        told = await stand.agent.says(visitor, "second")
        await shows(page, "second")
        await stand.agent.does(visitor, op="edit", message_id=told["message_id"], content="*2nd*")
        await shows(page, "2nd")
        await expect(page.get_by_text("edited")).to_be_visible()
        await stand.agent.does(visitor, op="delete", message_id=told["message_id"])
        await shows(page, "This message was deleted.")
        require((await texts(page))[:2] == ["spell it", "rough"], "the others stay")


async def an_address_that_leads_nowhere_is_kind(stand: Stand) -> None:
    """An unknown address shows a page, not a bare error."""
    async with stand.visitor(PHONE) as context:
        page = await context.new_page()
        await page.goto(stand.url[:-4] + "0000")
        await expect(page.get_by_role("heading")).to_have_text("There is no chat here")
    expected(stand, "404")


async def it_looks_good(stand: Stand) -> None:
    """Phone and desktop, light and dark: empty, asleep, answered, long; all are readable."""
    for size, where in ((PHONE, "phone"), (DESKTOP, "desktop")):
        for scheme in ("light", "dark"):
            await stand.agent.sleep()
            async with stand.page(size, color_scheme=scheme) as page:
                shoot = lambda name: stand.shoot(page, f"{where}-{scheme}-{name}")  # noqa: E731
                await checked(page)
                await shoot("1-empty")
                await send(page, "Hi! What is the weather like in Lisbon tonight? 🌙")
                await waking(page)
                await checked(page)
                await shoot("2-asleep")
                await stand.agent.wake(saying(SHORT))
                await shows(page, "Good evening!")
                await checked(page)
                await shoot("3-answered")
                stand.agent.answer = saying(LONG)
                await send(page, "Yes, and tell me how you keep the readings")
                await shows(page, "Take the readings")
                await page.locator(".bubble h3").first.scroll_into_view_if_needed()
                await page.locator(".line.agent").last.evaluate("(e) => e.scrollIntoView()")
                await checked(page)
                await shoot("4-long")


async def checked(page: Page) -> None:
    """Checks the conditions that hold for every screenshot."""
    await fits(page)
    await is_accessible(page)


def expected(stand: Stand, part: str) -> None:
    """Removes console errors that the scene provoked."""
    stand.complaints[:] = [complaint for complaint in stand.complaints if part not in complaint]


SCENES: list[Scene] = [
    an_empty_page_says_what_it_is,
    a_sleeper_is_woken_and_answers,
    an_answer_at_once_stands_below_its_question,
    a_long_answer_stays_inside,
    nothing_an_agent_writes_runs,
    two_tabs_show_the_same,
    a_reload_keeps_the_transcript,
    without_a_script_it_works,
    a_forged_cookie_is_somebody_new,
    the_keyboard_is_enough,
    a_message_that_fails_is_tried_again,
    a_desk_that_dies_is_found_again,
    buttons_are_pressed_once,
    who_is_not_linked_is_told_their_code,
    a_status_passes,
    edits_and_deletions_are_shown,
    an_address_that_leads_nowhere_is_kind,
    it_looks_good,
]
