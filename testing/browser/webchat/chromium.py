"""The system's Chromium."""

import os
import shutil

from playwright.async_api import Browser, Playwright


async def launch(driver: Playwright, *more: str) -> Browser:
    """Starts the system's Chromium. Root has no sandbox."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    path = shutil.which("chromium")
    return await driver.chromium.launch(executable_path=path, args=[*sandbox, *more])
