"""Proves that alerts of each kind arrive on each way, and are resolved.

Prints a line for each kind, and the sum. See README.md.
"""

import asyncio
import sys
import time
from dataclasses import dataclass

from causes import KINDS, Kind
from stand import Stand
from ways import WAYS, News, Watch

# The text of `STILL_WAKING` in crates/types/src/send.rs begins so.
STILL_WAKING = "Your agent is still waking."


@dataclass
class Counts:
    """The figures of the proof."""

    arrived: int = 0
    resolved: int = 0
    late: int = 0


async def wait_for(news: News, kind: Kind, state: str, began: float, limit: float) -> list[float | None]:
    """Waits until each way told the state of a kind, or for long enough. Returns the seconds."""
    until = began + 2 * limit
    while time.monotonic() < until and any(news.at(way, kind.name, state) is None for way in WAYS):
        await asyncio.sleep(0.25)
    times = (news.at(way, kind.name, state) for way in WAYS)
    return [None if at is None else at - began for at in times]


async def judge(news: News, kind: Kind, state: str, began: float, counts: Counts) -> None:
    """Counts the ways that told a state, and those that told it too late."""
    limit = kind.limits[0 if state == "opened" else 1]
    took = await wait_for(news, kind, state, began, limit)
    told = [secs for secs in took if secs is not None]
    if state == "opened":
        counts.arrived += len(told)
    else:
        counts.resolved += len(told)
    counts.late += sum(secs > limit for secs in told)
    shown = ", ".join(f"{way} {'never' if secs is None else f'{secs:.0f} s'}" for way, secs in zip(WAYS, took, strict=True))
    print(f"{kind.name} {state}: {shown}", flush=True)


async def prove(counts: Counts, news: News) -> None:
    """Causes and cures every kind on one desk."""
    stand = Stand(news)
    try:
        await stand.set_up()
        watch = Watch(news, stand.platform, stand.metrics_urls)
        try:
            for state in ("opened", "resolved"):
                judged = []
                for kind in KINDS:
                    if state == "resolved":
                        check_not_resolved(news, kind)
                    before = time.monotonic()
                    await (kind.cause if state == "opened" else kind.cure)(stand)
                    # A message may come while the cause is still being made.
                    began = min(time.monotonic(), news.at("webhook", kind.name, state) or time.monotonic())
                    began = max(began, before)
                    judged.append(asyncio.create_task(judge(news, kind, state, began, counts)))
                await asyncio.gather(*judged)
        finally:
            await watch.close()
        check_tenant(stand, news)
        told = stand.platform.messages("talk").count(still_waking(stand))
        if told != 1:
            news.wrong.append(f"the author was told {told} times that the agent still wakes")
    finally:
        await stand.take_down()


def still_waking(stand: Stand) -> str:
    """Returns the message to the author, as the platform got it."""
    texts = (text for text in stand.platform.messages("talk") if text.startswith(STILL_WAKING))
    return next(texts, STILL_WAKING)


def check_not_resolved(news: News, kind: Kind) -> None:
    """Checks that no message told the end of a kind whose cause is still there."""
    early = [way for way in WAYS if way != "metric" and news.at(way, kind.name, "resolved") is not None]
    if early:
        news.wrong.append(f"{kind.name} was resolved before its cure: {early}")


def check_tenant(stand: Stand, news: News) -> None:
    """Checks that the tenant's own way heard of the tenant, and of nothing else."""
    told = {alert["data"].get("kind") for alert in stand.door.of_tenant}
    expected = {kind.name for kind in KINDS} - {"expiring-key", "disk", "lost-commits"}
    if told != expected:
        news.wrong.append(f"the tenant was told of {told}, not of {expected}")
    if any(alert["data"]["tenant_id"] != stand.desk.tenant for alert in stand.door.of_tenant):
        news.wrong.append("the tenant was told of another")


def main() -> int:
    """Runs the proof."""
    counts, news = Counts(), News()
    asyncio.run(prove(counts, news))
    for wrong in news.wrong:
        print("WRONG ", wrong, flush=True)
    print(
        f"alerts: kinds={len(KINDS)} ways={len(WAYS)} arrived={counts.arrived} resolved={counts.resolved} late={counts.late}"
    )
    expected = len(KINDS) * len(WAYS)
    is_right = (counts.arrived, counts.resolved, counts.late) == (expected, expected, 0)
    return 0 if is_right and not news.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
