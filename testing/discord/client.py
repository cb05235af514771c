"""Scenarios that discord.py runs on the fake Discord; each is one check."""

import asyncio
import io
import json
import logging
import os
import subprocess
import sys
import urllib.request

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

TOKEN = "a-bot-token"
BOT = 1000 << 22
GUILD = 2000 << 22
GENERAL = GUILD + 1
HIDDEN = GUILD + 2
ANN = 3000 << 22
PATIENCE_SECS = 20
EVERYTHING = discord.Intents.default() | discord.Intents(message_content=True)


class Fake:
    """The fake, as a separate process."""

    def __init__(self):
        binary = os.environ["FAKE_DISCORD_BIN"]
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url, self.control_url = [self.process.stdout.readline().strip() for _ in range(2)]
        Route.BASE = f"{self.url}/api/v10"
        # After the first time, the client uses the gateway that it knows from its own source.
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(self.url.replace("http", "ws"))
        self.control("settings", identify_every=0)
        self.control("bot", token=TOKEN, id=str(BOT), name="desk")
        self.control("person", id=str(ANN), name="ann")
        overwrites = [{"id": str(GUILD), "type": 0, "allow": "0", "deny": str(1 << 10)}]
        channels = [
            {"id": str(GENERAL), "name": "general"},
            {"id": str(HIDDEN), "name": "hidden", "permission_overwrites": overwrites},
        ]
        members = [{"user": {"id": str(ANN)}}]
        self.control("guild", id=str(GUILD), name="Home", channels=channels, members=members)
        self.control("join", token=TOKEN, guild=str(GUILD))

    def control(self, what, **asked):
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.control_url}/control/{what}", json.dumps(asked).encode(), headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.load(opener.open(request, timeout=5))

    def say(self, text, channel=GENERAL, **more):
        return self.control("say", user=str(ANN), channel=str(channel), said={"content": text, **more})

    def direct(self):
        return self.control("direct", bot=str(BOT), user=str(ANN))

    def press(self, message, custom_id):
        at = {"channel": str(message.channel.id), "message": str(message.id)}
        return self.control("press", user=str(ANN), custom_id=custom_id, **at)

    def order(self, order, **more):
        return self.control("order", order=order, **more)

    def fault(self, kind, **more):
        self.control("fault", kind=kind, **more)

    def calls(self, route):
        return [call for call in self.control("calls") if call["route"] == route]

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=5)


class Bot(discord.AutoShardedClient):
    """A client that records the events it receives."""

    def __init__(self, intents=EVERYTHING):
        super().__init__(intents=intents, guild_ready_timeout=0.1, heartbeat_timeout=1)
        self.heard = asyncio.Queue()
        self.events = asyncio.Queue()
        self.pressed = asyncio.Queue()
        self.running = None

    async def __aenter__(self):
        await self.login(TOKEN)
        self.running = asyncio.create_task(self.connect())
        await self.event("connected")
        await self.wait_until_ready()
        return self

    async def __aexit__(self, *_):
        await self.close()
        await asyncio.gather(self.running, return_exceptions=True)

    async def on_shard_connect(self, shard):
        await self.events.put("connected")

    async def on_resumed(self):
        await self.events.put("resumed")

    async def on_message(self, message):
        if message.author.id != self.user.id:
            await self.heard.put(message)

    async def on_interaction(self, interaction):
        await self.pressed.put(interaction)

    async def event(self, name):
        waiting = asyncio.create_task(self.events.get())
        ends = {waiting, self.running}
        await asyncio.wait(ends, timeout=PATIENCE_SECS, return_when=asyncio.FIRST_COMPLETED)
        if self.running.done():
            raise self.running.exception() or AssertionError("the client ended")
        assert waiting.done() and waiting.result() == name, f"{name} was expected"

    async def hears(self):
        return await asyncio.wait_for(self.heard.get(), PATIENCE_SECS)

    def general(self):
        return self.get_channel(GENERAL)


async def refused(kind, coroutine, code=None):
    try:
        await coroutine
    except kind as error:
        assert code is None or error.code == code, error
        return error
    raise AssertionError(f"{kind.__name__} was expected")


async def logs_in(fake):
    async with Bot() as bot:
        assert bot.user.id == BOT and bot.application_id == BOT, bot.user
        guild = bot.get_guild(GUILD)
        assert (guild.name, guild.me.id) == ("Home", BOT), guild
        assert [channel.name for channel in guild.text_channels] == ["general", "hidden"], guild.channels
    stranger = discord.Client(intents=EVERYTHING)
    await refused(discord.LoginFailure, stranger.login("another"))
    await stranger.close()
    assert [one["shard"] for one in fake.control("identifies")] == [[0, 1]], "it identified once"


async def hears_guilds_and_people(fake):
    async with Bot() as bot:
        fake.say("in the guild", files=[{"name": "plan.txt", "text": "some words"}])
        said = await bot.hears()
        assert (said.content, said.author.name, said.guild.id) == ("in the guild", "ann", GUILD), said
        assert await said.attachments[0].read() == b"some words"
        fake.say("where it cannot see", HIDDEN)
        fake.say("for you alone", fake.direct())
        said = await bot.hears()
        assert (said.content, said.guild, said.author.id) == ("for you alone", None, ANN), said


async def words_need_an_intent(fake):
    async with Bot(discord.Intents.default()) as bot:
        fake.say("not for you")
        fake.say(f"<@{BOT}> for you")
        fake.say("for you alone", fake.direct())
        heard = [(await bot.hears()).content for _ in range(3)]
    assert heard == ["", f"<@{BOT}> for you", "for you alone"], heard


async def answers_edits_reacts_and_deletes(fake):
    async with Bot() as bot:
        fake.say("hello?")
        asked = await bot.hears()
        answer = await asked.reply("here", mention_author=False)
        assert answer.reference.resolved.content == "hello?" and not answer.mentions, answer
        edited = await answer.edit(content="here now")
        assert (edited.content, edited.edited_at is None) == ("here now", False), edited
        await asked.add_reaction("👀")
        await asked.remove_reaction("👀", bot.user)
        async with asked.channel.typing():
            pass
        await answer.delete()
        await refused(discord.NotFound, bot.general().fetch_message(answer.id), 10008)


async def reads_what_was_said(fake):
    ids = [int(fake.say(f"message {number}")) for number in range(120)]
    async with Bot() as bot:
        after = discord.Object(ids[9])
        found = [message.id async for message in bot.general().history(after=after, limit=None)]
        assert found == ids[10:], len(found)
        found = [message.id async for message in bot.general().history(limit=5)]
        assert found == ids[:-6:-1], found
        around = [m.id async for m in bot.general().history(around=discord.Object(ids[50]), limit=3)]
        assert sorted(around) == ids[49:52], around


async def opens_threads(fake):
    async with Bot() as bot:
        fake.say("a long story")
        begin = await bot.hears()
        thread = await begin.create_thread(name="The story")
        assert (thread.id, thread.parent_id) == (begin.id, GENERAL), thread
        await thread.send("chapter one")
        fake.say("and then?", thread.id)
        assert (await bot.hears()).channel.id == thread.id
        await thread.edit(name="The whole story")
        assert (await bot.fetch_channel(thread.id)).name == "The whole story"
        await refused(discord.HTTPException, begin.create_thread(name="Again"), 160004)
        other = await bot.general().create_thread(name="Apart", type=discord.ChannelType.public_thread)
        await other.send("hello")


async def sends_files(fake):
    async with Bot() as bot:
        file = discord.File(io.BytesIO(b"some bytes"), "plan.txt", description="a plan")
        sent = await bot.general().send("see", file=file)
        assert [one.filename for one in sent.attachments] == ["plan.txt"], sent.attachments
        assert (sent.content, sent.attachments[0].description) == ("see", "a plan"), sent
        assert await sent.attachments[0].read() == b"some bytes"
        large = discord.File(io.BytesIO(bytes(10 * 1024 * 1024 + 1)), "large.bin")
        await refused(discord.HTTPException, bot.general().send(file=large), 40005)


async def addresses_of_files_end_and_are_told_anew(fake):
    async with Bot() as bot:
        fake.say("see", files=[{"name": "plan.txt", "text": "some words"}])
        said = await bot.hears()
        fake.control("settings", ahead_by=3 * 24 * 3_600_000)
        await refused(discord.NotFound, said.attachments[0].read())
        again = await said.channel.fetch_message(said.id)
        assert await again.attachments[0].read() == b"some words"
        assert again.attachments[0].id == said.attachments[0].id, again.attachments


async def says_no_as_discord_does(fake):
    async with Bot() as bot:
        await bot.general().send("😀" * 2000)
        await refused(discord.HTTPException, bot.general().send("x" * 2001), 50035)
        await refused(discord.HTTPException, bot.general().send(" "), 50006)
        hidden = bot.get_channel(HIDDEN)
        await refused(discord.Forbidden, hidden.send("psst"), 50001)
        mine = int(fake.say("mine"))
        theirs = bot.general().get_partial_message(mine)
        await refused(discord.Forbidden, theirs.edit(content="yours"), 50005)
        await refused(discord.Forbidden, theirs.delete(), 50013)
        fake.control("block", user=str(ANN))
        ann = await bot.fetch_user(ANN)
        await refused(discord.Forbidden, ann.send("hello?"), 50007)


async def a_nonce_is_taken_once(fake):
    async with Bot() as bot:
        body = {"content": "once", "nonce": "n-1", "enforce_nonce": True}
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=GENERAL)
        first, second = [(await bot.http.request(route, json=body))["id"] for _ in range(2)]
        assert first == second, (first, second)


async def resumes_a_cut_socket(fake):
    async with Bot() as bot:
        fake.say("before")
        await bot.hears()
        assert fake.order("cut") == 1
        for text in ["one", "two", "three"]:
            fake.say(text)
        said = [(await bot.hears()).content for _ in range(3)]
        await bot.event("resumed")
        assert said == ["one", "two", "three"], said
        resumes = fake.control("resumes")
        assert [(one["is_taken"], one["at_resume_url"]) for one in resumes] == [(True, True)], resumes
        assert len(fake.control("identifies")) == 1
        assert fake.control("overlap") == 0


async def reconnects_when_told_to(fake):
    async with Bot() as bot:
        assert fake.order("reconnect") == 1
        fake.say("meanwhile")
        await bot.event("resumed")
        assert (await bot.hears()).content == "meanwhile"
        assert len(fake.control("identifies")) == 1


async def identifies_anew_when_invalid(fake):
    async with Bot() as bot:
        assert fake.order("invalid", resumable=False) == 1
        await bot.event("connected")
        assert len(fake.control("identifies")) == 2
        fake.say("again")
        assert (await bot.hears()).content == "again"


async def an_unknown_session_is_invalid(fake):
    async with Bot() as bot:
        fake.fault("invalid_at_resume", resumable=False)
        assert fake.order("cut") == 1
        await bot.event("connected")
        assert [one["is_taken"] for one in fake.control("resumes")] == [False]
        assert len(fake.control("identifies")) == 2


async def resumes_what_is_invalid_for_now(fake):
    async with Bot() as bot:
        assert fake.order("invalid", resumable=True) == 1
        await bot.event("resumed")
        assert len(fake.control("identifies")) == 1


async def a_session_may_time_out(fake):
    async with Bot() as bot:
        assert fake.order("close", code=4009) == 1
        await bot.event("connected")
        assert [one["is_taken"] for one in fake.control("resumes")] == [False]
        assert len(fake.control("identifies")) == 2


async def the_resume_url_may_be_dead(fake):
    async with Bot() as bot:
        fake.fault("dead_resume_url")
        assert fake.order("cut") == 1
        fake.say("meanwhile")
        await bot.event("resumed")
        assert (await bot.hears()).content == "meanwhile"


async def a_silent_gateway_is_left(fake):
    fake.control("settings", identify_every=0, heartbeat_every=500)
    async with Bot() as bot:
        fake.fault("no_ack", times=3)
        await bot.event("resumed")
        left = fake.control("sockets")[0]
        assert (left["close_code"], left["closed_by_client"]) == (4000, True), left
        assert len(fake.control("identifies")) == 1


async def forbidden_intents_end_it(fake):
    fake.control("starts", token=TOKEN, disallowed_intents=1 << 15)
    bot = Bot()
    await refused(discord.PrivilegedIntentsRequired, bot.start(TOKEN))


async def buttons_are_pressed_and_answered(fake):
    async with Bot() as bot:
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Yes", custom_id="hp1:a:yes"))
        asked = await bot.general().send("May I?", view=view)
        fake.press(asked, "hp1:a:yes")
        pressed = await asyncio.wait_for(bot.pressed.get(), PATIENCE_SECS)
        assert pressed.data["custom_id"] == "hp1:a:yes" and pressed.user.id == ANN, pressed.data
        await pressed.response.defer(ephemeral=True, thinking=True)
        await pressed.followup.send("thank you", ephemeral=True)
        await pressed.edit_original_response(content="thank you very much")
        await refused(discord.InteractionResponded, pressed.response.send_message("twice"))
        (seen,) = fake.control("interactions")
        assert (seen["answered"], seen["said"][-1]["content"]) == (5, "thank you very much"), seen
        fake.control("end_interaction", interaction=seen["id"])
        await refused(discord.HTTPException, pressed.followup.send("too late"), 50027)


async def commands_are_given(fake):
    async with Bot() as bot:
        options = [{"name": "words", "type": 3, "value": "good night"}]
        at = {"bot": str(BOT), "user": str(ANN), "channel": str(GENERAL)}
        fake.control("command", name="tell", options=options, **at)
        given = await asyncio.wait_for(bot.pressed.get(), PATIENCE_SECS)
        assert (given.data["name"], given.data["options"][0]["value"]) == ("tell", "good night")
        await given.response.send_message("told")
        assert (await given.original_response()).content == "told"
        assert not fake.calls("PUT /applications/{}/commands"), "nobody set commands"


async def is_told_to_wait(fake):
    async with Bot() as bot:
        fake.fault("too_many", at="POST /channels/{}/messages", retry_after=0.3)
        await bot.general().send("after a while")
        fake.fault("too_many", retry_after=0.3, **{"global": True})
        await bot.general().send("after a while")
        fake.fault("refuse", at="POST /channels/{}/messages", status=500)
        await bot.general().send("again")
        statuses = [call["status"] for call in fake.calls("POST /channels/{}/messages")]
        assert statuses == [429, 200, 429, 200, 500, 200], statuses


async def changes_are_told(fake):
    async with Bot() as bot:
        changes = asyncio.Queue()
        for name in ["guild_channel_update", "guild_role_update"]:
            setattr(bot, f"on_{name}", lambda before, after: changes.put(after))
        fake.control("channel", guild=str(GUILD), channel={"id": str(HIDDEN), "permission_overwrites": []})
        hidden = await asyncio.wait_for(changes.get(), PATIENCE_SECS)
        assert hidden.permissions_for(hidden.guild.me).view_channel
        fake.control("role", guild=str(GUILD), role={"id": str(GUILD), "permissions": "0"})
        everybody = await asyncio.wait_for(changes.get(), PATIENCE_SECS)
        assert not everybody.permissions.send_messages
        await refused(discord.Forbidden, bot.general().send("may I?"), 50001)


CHECKS = [
    logs_in,
    hears_guilds_and_people,
    words_need_an_intent,
    answers_edits_reacts_and_deletes,
    reads_what_was_said,
    opens_threads,
    sends_files,
    addresses_of_files_end_and_are_told_anew,
    says_no_as_discord_does,
    a_nonce_is_taken_once,
    resumes_a_cut_socket,
    reconnects_when_told_to,
    identifies_anew_when_invalid,
    an_unknown_session_is_invalid,
    resumes_what_is_invalid_for_now,
    a_session_may_time_out,
    the_resume_url_may_be_dead,
    a_silent_gateway_is_left,
    forbidden_intents_end_it,
    buttons_are_pressed_and_answered,
    commands_are_given,
    is_told_to_wait,
    changes_are_told,
]


def passes(check):
    fake = Fake()
    try:
        asyncio.run(asyncio.wait_for(check(fake), 2 * PATIENCE_SECS))
        print(f"  ok    {check.__name__}")
        return True
    except Exception as error:  # noqa: BLE001: after any failure the others run
        print(f"  WRONG {check.__name__}: {type(error).__name__}: {error}")
        return False
    finally:
        fake.end()


def main(names):
    if "--list" in names:
        print("\n".join(check.__name__ for check in CHECKS))
        return 0
    # The client logs every broken connection, and these checks break connections on purpose.
    logging.getLogger("discord").setLevel(logging.CRITICAL)
    checks = [check for check in CHECKS if not names or check.__name__ in names]
    passed = sum(passes(check) for check in checks)
    stream = discord.utils._ActiveDecompressionContext.COMPRESSION_TYPE
    print(f"discord-others: client={discord.__version__} stream={stream} client_checks={passed}/{len(checks)}")
    return 0 if checks and passed == len(checks) else 1


sys.exit(main(sys.argv[1:]))
