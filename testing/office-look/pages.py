"""Every page of the dashboard, as an address with the names of the history in it."""

import re
from dataclasses import dataclass

TENANT = "/t/{tenant}"
AGENT = TENANT + "/agents/{agent}"

PATHS = {
    "tenants": "/",
    "new-tenant": "/new-tenant",
    "desk-alerts": "/alerts",
    "desk-alert-way-remove": "/alerts/ways/{desk_way}/remove",
    "desk-usage": "/usage",
    "nodes": "/nodes",
    "desk-audit": "/audit",
    "desk-users": "/users",
    "desk-glass": "/glass",
    "tokens": "/tokens",
    "overview": TENANT,
    "overview-needed": TENANT + "?state=needed",
    "overview-empty": "/t/{quiet}",
    "new-agent": TENANT + "/new-agent",
    "agent": AGENT,
    "agent-unreachable": TENANT + "/agents/{unreachable}",
    "agent-new": "/t/{quiet}/agents/{quiet_agent}",
    "gateway-revoke": AGENT + "/gateways/{gateway}/revoke",
    "entry-answered": AGENT + "/entries/{answered}",
    "entry-waiting": AGENT + "/entries/{waiting}",
    "entry-parked": AGENT + "/entries/{parked}",
    "entry-drop": AGENT + "/entries/{parked}/drop",
    "alerts": TENANT + "/alerts",
    "alerts-quiet": "/t/{quiet}/alerts",
    "alert-way-remove": TENANT + "/alerts/ways/{way}/remove",
    "stuck": TENANT + "/stuck",
    "stuck-group": TENANT + "/stuck/{reason}",
    "stuck-drop": TENANT + "/stuck/{reason}/drop",
    "jobs": TENANT + "/jobs",
    "fires": TENANT + "/fires?agent=",
    "job": AGENT + "/jobs/{job}",
    "job-cancel": AGENT + "/jobs/{job}/cancel",
    "letters": TENANT + "/letters",
    "letters-agent": TENANT + "/letters?agent={agent}",
    "hook-remove": TENANT + "/letters/hooks/{hook}/remove",
    "shelf": TENANT + "/shelf",
    "skill": TENANT + "/shelf/{skill}",
    "skill-compared": TENANT + "/shelf/{skill}?version={new_version}&with={old_version}",
    "people": TENANT + "/people",
    "bots": TENANT + "/bots",
    "bot": TENANT + "/bots/{bot}",
    "bot-deaf": TENANT + "/bots/{deaf_bot}",
    "bot-remove": TENANT + "/bots/{bot}/remove",
    "bot-platform": TENANT + "/bots/new",
    "bot-token": TENANT + "/bots/new/telegram",
    "bot-token-discord": TENANT + "/bots/new/discord",
    "audit": TENANT + "/audit",
    "usage": TENANT + "/usage",
    "users": TENANT + "/users",
    "glass": TENANT + "/glass",
}


@dataclass(frozen=True)
class DeskPage:
    """A page: its name, its address, and the form of the addresses of its kind."""

    name: str
    path: str
    form: re.Pattern[str]


def desk_pages(names: dict[str, str]) -> list[DeskPage]:
    """Returns every page, with these names in its address."""
    return [DeskPage(name, path.format(**names), form_of(path)) for name, path in PATHS.items()]


def form_of(path: str) -> re.Pattern[str]:
    """Returns the form of an address without its query: any name may stand for a name."""
    parts = re.split(r"\{\w+\}", path.split("?")[0])
    return re.compile("[^/]+".join(re.escape(part) for part in parts))
