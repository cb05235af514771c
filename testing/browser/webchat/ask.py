"""Sends a message on a page as a new visitor, and waits for the answer."""

import asyncio
import sys

from playwright.async_api import async_playwright, expect

from webchat.chromium import launch
from webchat.judge import send

QUESTION = "Is anybody there?"


async def main(url: str) -> None:
    """Sends one message. Fails if no answer arrives in time."""
    async with async_playwright() as driver:
        browser = await launch(driver)
        page = await browser.new_page()
        await page.goto(url)
        await send(page, QUESTION)
        answer = page.locator(".line.agent .bubble")
        await expect(answer).to_have_count(1)
        print(f"answered: {await answer.inner_text()}")
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
