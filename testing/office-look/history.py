"""A desk with a history that includes faults: the pages of an empty desk would prove little."""

import asyncio
import hashlib
import hmac
import json
import os
import urllib.error
import urllib.request
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from deskpages.telegram import Telegram
from props.desk import Desk
from props.folder import Folder
from props.http import read_request, response
from props.judge import until_so
from props.postgres import Cluster
from props.process import free_port

from webchat.agent import Agent

DATABASE = "office_look"
TOKEN = "4242:key-of-the-telegram-bot"
KEY = "a key that only the platform and the desk know"
ANN, STRANGER, GROUP = 1001, 2002, "-100200"
WAIT_SECS = 60
SOURCE = "# Skill: brief\n# Status: Draft\n# Description: Says good morning.\n\nt:\n    emit(text=\"good {}\")\n"

# The usage of the last month, as if the desk had run: the totals up to each hour, which end at those of now.
USAGE = """
insert into tenant_usage (tenant_id, hour, sampled_at, agents, messages, wakes, awake_ms, fires)
select tenant, hour, hour + interval '55 minutes', 3, -sum(messages) over later, -sum(wakes) over later,
    -sum(wakes) over later * 400000, -sum(fires) over later
from unnest(array['{tenant}', '00000000-0000-0000-0000-000000000000']::uuid[]) tenant,
    lateral (
        select date_trunc('hour', now(), 'UTC') - k * interval '1 hour' as hour,
            case when k = 1 then 0 else k * 37 % 29 end as messages,
            case when k = 1 then 0 else k * 17 % 7 end as wakes,
            case when k = 1 then 0 else k % 3 end as fires
        from generate_series(1, 700) k
    ) hours
window later as (partition by tenant order by hour desc)
on conflict do nothing
"""


class Door:
    """The host of an agent with a fault: it fails at wake calls, and refuses everything else."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Begins to listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def close(self) -> None:
        """Stops listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                is_wake = request.path.startswith("/wake")
                status = "500 Internal Server Error" if is_wake else "400 Bad Request"
                writer.write(response({"error": "no"}, status))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


class History:
    """The desk, and the names in its history."""

    def __init__(self) -> None:
        self.folder = Folder("nightdesk-office-look-", "KILL")
        self.path = self.folder.path
        self.cluster = Cluster.shared()
        self.telegram = Telegram(self.path)
        self.door = Door()
        self.desk: Desk
        self.names: dict[str, str] = {}
        self._ends = AsyncExitStack()

    async def set_up(self) -> None:
        """Starts the desk, and lets everything happen."""
        self._ends.callback(self.folder.remove)
        self._ends.push_async_callback(self.cluster.drop_database, DATABASE)
        await self.cluster.create_database(DATABASE)
        self._ends.push_async_callback(self.telegram.close)
        await self.telegram.open()
        await self.telegram.furnish(TOKEN, "desk_bot", {"Ann": ANN, "Bob": STRANGER})
        self._ends.callback(self.door.close)
        await self.door.open()
        binary = Path(os.environ["NIGHTDESK_BIN"])
        more = self.telegram.settings
        self.desk = Desk(binary, self.path, self.cluster, DATABASE, more, open_ports=(self.door.port,))
        await self.desk.migrate()
        self._ends.push_async_callback(self.desk.stop)
        await self.desk.start()
        await self.desk.log_in()
        await self.desk.register_agent()
        await self._make_identities()
        await self._connect_bots()
        await self._add_ways()
        await self._fill_shelf()
        await self._write_messages()
        await self._send_letters()
        await self._fire_jobs()
        await self._age()

    async def take_down(self) -> None:
        """Ends everything."""
        await self._ends.aclose()

    def _of(self, agent: str, *words: str) -> list[str]:
        """Returns a command about an agent of the first tenant."""
        return [*words, "--tenant", "night", "--agent", agent]

    async def _make_identities(self) -> None:
        ask = self.desk.ask
        for name in ("heron", "finch"):
            await ask("agent", "create", "--tenant", "night", name)
        await ask("tenant", "create", "calm")
        await ask("agent", "create", "--tenant", "calm", "wren")
        self.gateway = await self.desk.create_gateway("gw-owl")
        ann = ("Ann Smith", "--email", "ann@night.example")
        await ask("user", "create", *ann, "--role", "member", "--tenant", "night")
        await ask("user", "create", "Bob Jones", "--role", "auditor")
        await ask("token", "create", "backup", "--right", "read,audit", "--tenant", "night")
        await ask("glass", "ask", "--tenant", "night", "--reason", "ticket 7", "--minutes", "30")
        self.names |= {"tenant": "night", "agent": "owl", "unreachable": "heron", "gateway": "gw-owl"}
        self.names |= {"quiet": "calm", "quiet_agent": "wren"}

    async def _connect_bots(self) -> None:
        """Connects a page, a bot at Telegram, and one whose platform posts an event that cannot be read."""
        ask = self.desk.ask
        await self.desk.register_page("night-page")
        self.names["bot"] = self.desk.bot
        await self.desk.let_anyone_in()
        (self.path / "telegram.key").write_text(TOKEN)
        words = ("bot", "connect", "telegram", "--tenant", "night")
        bot = (await ask(*words, "--key-file", str(self.path / "telegram.key")))["bot_id"]
        self.names["deaf_bot"] = bot
        await ask(*self._of("owl", "binding", "create"), "--bot", bot, "--author", str(ANN))
        await ask(*self._of("owl", "grant", "create"), "--bot", bot, f"--chat={GROUP}", "--open")
        path = await self.desk.register_bot("discord", "bot-discord", KEY, f"{self.door.url}/deliver")
        nonsense = json.dumps({"id": "nonsense", "event": {"text": "x", "source": 5}}).encode()
        await asyncio.to_thread(post_signed, f"{self.desk.front.url}/hooks/{path}", nonsense)

    async def _add_ways(self) -> None:
        """Adds ways for alerts: URLs that refuse them, and a chat."""
        ask = self.desk.ask
        add = ("alert", "way", "add")
        way = await ask(*add, "--tenant", "night", "--webhook", f"{self.door.url}/alerts")
        desk_way = await ask(*add, "--all-tenants", "--webhook", f"{self.door.url}/desk-alerts")
        await ask(*self._of("owl", *add), "--bot", self.names["deaf_bot"], f"--chat={GROUP}")
        self.names |= {"way": way["way_id"], "desk_way": desk_way["way_id"]}

    async def _fill_shelf(self) -> None:
        """Writes two versions of a skill that a key must approve."""
        ask = self.desk.ask
        await ask("skill", "key", "--out", str(self.path / "approval.key"))
        await ask("skill", "secure", "--tenant", "night", "--public-key", str(self.path / "approval.key.pub"))
        file = self.path / "brief.skill.md"
        for greeting in ("morning", "evening"):
            file.write_text(SOURCE.format(greeting))
            await ask("skill", "write", "--tenant", "night", "brief", "--file", str(file))
        changes: Any = await ask("skill", "history", "--tenant", "night", "brief")
        new, *_, old = [change["version"] for change in changes]
        self.names |= {"skill": "brief", "new_version": new, "old_version": old}

    async def _write_messages(self) -> None:
        """The agent answers some, sleeps, and its inbox overflows; a stranger is refused."""
        agent = Agent(self.desk.back.port, self.gateway.name, self.gateway.secret, "telegram")
        await agent.wake(lambda event: [{"op": "send", "content": f"You wrote {event['text']}"}])
        await self._say("one", "two", "three")
        await until_so("the agent answers", lambda: self._has_told(3), WAIT_SECS)
        await agent.sleep()
        await self.desk.knows_the_line_is_over()
        await self.desk.ask("tenant", "quota", "--tenant", "night", "pending-entries=3")
        await self._say("four", "five", "six", "seven", "eight")
        await until_so("two messages are parked", lambda: self._has_parked(2), WAIT_SECS)
        await self.desk.ask("tenant", "quota", "--tenant", "night", "pending-entries=1000")
        await self.telegram.says(TOKEN, STRANGER, "let me in")
        inbox = await self._inbox()
        first, second, *_ = [str(entry["seq"]) for entry in inbox["waiting"]]
        await self.desk.ask(*self._of("owl", "inbox", "park"), "--seq", second)
        self.names |= {"answered": "1", "waiting": first}
        self.names |= {"parked": str(inbox["parked"][0]["seq"]), "reason": inbox["parked"][0]["reason"]}

    async def _send_letters(self) -> None:
        ask = self.desk.ask
        await ask(*self._of("heron", "agent", "wake-url"), f"{self.door.url}/wake")
        await ask(*self._of("heron", "letter", "send"), "owl", "Are you up?")
        await ask(*self._of("owl", "letter", "send"), "heron", "Is it dark where you are?")
        await ask(*self._of("owl", "letter", "hook"), "runtime")
        peer = ("--peer-tenant", "calm", "--peer-agent", "wren")
        await ask(*self._of("owl", "grant", "letters"), *peer)
        self.names["hook"] = "runtime"

    async def _fire_jobs(self) -> None:
        """One job fires, one is refused by its agent, and one is due later."""
        ask = self.desk.ask
        await ask(*self._of("owl", "schedule", "add"), "tidy-up", "--in", "10m", "--say", "Tidy up.")
        await ask(*self._of("finch", "schedule", "add"), "sing", "--in", "1s", "--say", "Sing.")
        callback = f"{self.door.url}/api/cron/fire"
        await ask(*self._of("owl", "schedule", "add"), "report", "--in", "1s", "--callback", callback)
        await until_so("a fire has ended", self._has_fires, WAIT_SECS)
        self.names["job"] = "tidy-up"

    async def _age(self) -> None:
        """Time passes: the desk gives an agent up, the platform refuses the bot, and a month of usage is counted."""

        async def is_called() -> bool:
            return " 0" not in await self._sql("select count(*) from wakes where calls > 0")

        await until_so("the agent is called", is_called, WAIT_SECS)
        await self._sql(
            "update wakes set state = 'unreachable', due_at = null where state in ('due', 'held') and calls > 0"
        )
        fault = {"method": "getUpdates", "times": 1_000_000, "kind": "refuse", "status": 401}
        await self.telegram.control("fault", **fault, description="Unauthorized")
        # It ends the poll that waits.
        await self._say("nine")
        await self._sql(USAGE.format(tenant=self.desk.tenant))

        async def is_deaf() -> bool:
            return " 0" not in await self._sql("select count(*) from bot_hearings where unheard_since is not null")

        await until_so("the desk notes that the bot is deaf", is_deaf, WAIT_SECS)

        async def is_told() -> bool:
            return " 0" not in await self._sql("select count(*) from alert_ways where failure is not null")

        await until_so("a way shows why an alert did not arrive", is_told, WAIT_SECS)

    async def _say(self, *texts: str) -> None:
        for text in texts:
            await self.telegram.says(TOKEN, ANN, text)

    async def _has_told(self, count: int) -> bool:
        return len(await self.telegram.told(TOKEN, ANN)) >= count

    async def _inbox(self) -> dict[str, Any]:
        return await self.desk.ask(*self._of("owl", "inbox", "list"))

    async def _has_parked(self, count: int) -> bool:
        return len((await self._inbox())["parked"]) == count

    async def _has_fires(self) -> bool:
        return " 2" in await self._sql("select count(*) from fires where ended_at is not null")

    async def _sql(self, text: str) -> str:
        return await self.cluster.run(text, DATABASE)


def post_signed(url: str, body: bytes) -> None:
    """Posts an event as the scripted platform does. The desk may refuse it."""
    signature = hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest()
    headers = {"x-scripted-signature": signature, "content-type": "application/json"}
    try:
        urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=WAIT_SECS).close()
    except urllib.error.HTTPError as error:
        error.close()
