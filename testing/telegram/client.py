"""Scenarios that python-telegram-bot runs on the fake Telegram; each is one check."""

import asyncio
import json
import os
import subprocess
import sys
import urllib.request

import telegram
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, ReplyParameters, Update
from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken, NetworkError, RetryAfter
from telegram.ext import Application, CallbackQueryHandler, MessageHandler, filters

TOKEN = "4242:the-key"
ANN = 900
FORUM = -1002
PATIENCE_SECS = 20


class Fake:
    """The fake, as a separate process."""

    def __init__(self):
        binary = os.environ["FAKE_TELEGRAM_BIN"]
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.control("bot", token=TOKEN, username="desk_bot")
        self.control("chat", id=ANN, type="private", first_name="Ann", last_name="Lee")
        self.control("chat", id=FORUM, type="supergroup", title="Forum", is_forum=True)

    def control(self, what, **asked):
        body = json.dumps(asked).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/control/{what}", body, headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.load(opener.open(request, timeout=5))["result"]

    def says(self, text, **more):
        sender = {"id": ANN, "is_bot": False, "first_name": "Ann"}
        message = {"from": sender, "text": text, **more}
        return self.control("happens", token=TOKEN, update={"message": message})

    def fault(self, method, kind, **more):
        self.control("fault", method=method, kind=kind, **more)

    def calls(self, method):
        return [call for call in self.control("calls") if call["method"] == method]

    def polls(self):
        """Returns the number of begun polls: a waiting poll is in no list of calls yet."""
        return self.control("polls", token=TOKEN)

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=5)


def bot(fake, token=TOKEN):
    return telegram.Bot(token, base_url=f"{fake.url}/bot", base_file_url=f"{fake.url}/file/bot")


def application(fake):
    builder = Application.builder().token(TOKEN)
    return builder.base_url(f"{fake.url}/bot").base_file_url(f"{fake.url}/file/bot").build()


async def refused(kind, coroutine):
    try:
        await coroutine
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected")


async def knows_itself(fake):
    async with bot(fake) as client:
        assert client.username == "desk_bot", client.username
    await refused(InvalidToken, bot(fake, "4242:other").initialize())


async def polls_and_answers(fake):
    heard = asyncio.Queue()

    async def answer(update, context):
        await update.message.reply_text(f"you said {update.message.text}", do_quote=True)
        await heard.put(update.message)

    app = application(fake)
    app.add_handler(MessageHandler(filters.TEXT, answer))
    async with app:
        await app.updater.start_polling(timeout=5)
        await app.start()
        for text in ["one", "two", "three"]:
            fake.says(text)
        said = [(await asyncio.wait_for(heard.get(), PATIENCE_SECS)).text for _ in range(3)]
        await app.updater.stop()
        await app.stop()
    assert said == ["one", "two", "three"], said
    sent = [call["answered"]["result"] for call in fake.calls("sendMessage")]
    assert [one["reply_to_message"]["text"] for one in sent] == said, sent


async def a_second_poller_ends_the_first(fake):
    async with bot(fake) as first, bot(fake) as second:
        waiting = asyncio.create_task(first.get_updates(timeout=10))
        while fake.polls() == 0:
            await asyncio.sleep(0.05)
        await second.get_updates(timeout=0)
        await refused(Conflict, waiting)


async def a_webhook_is_set_and_taken_back(fake):
    async with bot(fake) as client:
        await client.set_webhook("http://127.0.0.1:9/hook", secret_token="abc_DEF-1")
        fake.says("waiting")
        info = await client.get_webhook_info()
        assert (info.url, info.pending_update_count) == ("http://127.0.0.1:9/hook", 1), info
        await refused(Conflict, client.get_updates())
        await refused(BadRequest, client.set_webhook("http://127.0.0.1:9/hook", secret_token="a b"))
        await client.delete_webhook(drop_pending_updates=True)
        assert (await client.get_updates()) == ()


async def sends_edits_deletes_and_reacts(fake):
    async with bot(fake) as client:
        sent = await client.send_message(ANN, r"*so* it is\.", parse_mode="MarkdownV2")
        assert sent.text == "so it is.", sent.text
        edited = await client.edit_message_text("another", ANN, sent.message_id)
        assert (edited.message_id, edited.text) == (sent.message_id, "another"), edited
        again = await refused(BadRequest, client.edit_message_text("another", ANN, sent.message_id))
        assert "not modified" in str(again), again
        assert await client.set_message_reaction(ANN, sent.message_id, "👀")
        assert await client.delete_message(ANN, sent.message_id)
        await refused(BadRequest, client.delete_message(ANN, sent.message_id))
        assert await client.send_chat_action(ANN, "typing")
        assert await client.send_message_draft(ANN, 1, r"*so* it", parse_mode="MarkdownV2")
        await refused(BadRequest, client.send_message_draft(ANN, 0, "so it"))


async def refuses_what_telegram_refuses(fake):
    async with bot(fake) as client:
        unread = await refused(BadRequest, client.send_message(ANN, "a.", parse_mode="MarkdownV2"))
        assert "parse entities" in str(unread), unread
        await refused(BadRequest, client.send_message(ANN, "x" * 4097))
        await client.send_message(ANN, "😀" * 2048)
        await refused(BadRequest, client.send_message(ANN, "😀" * 2049))
        await refused(BadRequest, client.send_message(7, "nobody"))
        missing = ReplyParameters(7)
        await refused(BadRequest, client.send_message(ANN, "a", reply_parameters=missing))
        missing = ReplyParameters(7, allow_sending_without_reply=True)
        await client.send_message(ANN, "a", reply_parameters=missing)
        fake.control("block", person=ANN)
        await refused(Forbidden, client.send_message(ANN, "hello?"))


async def knows_chats_and_topics(fake):
    async with bot(fake) as client:
        chat = await client.get_chat(ANN)
        assert (chat.type, chat.full_name) == ("private", "Ann Lee"), chat
        topic = await client.create_forum_topic(FORUM, "Plans")
        sent = await client.send_message(FORUM, "first", message_thread_id=topic.message_thread_id)
        assert sent.is_topic_message and sent.message_thread_id == topic.message_thread_id, sent
        await refused(BadRequest, client.send_message(FORUM, "where?", message_thread_id=7))
        await refused(BadRequest, client.create_forum_topic(ANN, "Plans"))


async def asks_with_buttons(fake):
    pressed = asyncio.Queue()

    async def hear(update: Update, context):
        await update.callback_query.answer("thank you")
        await pressed.put(update.callback_query)

    app = application(fake)
    app.add_handler(CallbackQueryHandler(hear))
    async with app:
        buttons = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="hp1:a:yes")]])
        sent = await app.bot.send_message(ANN, "May I?", reply_markup=buttons)
        await app.updater.start_polling(timeout=5)
        await app.start()
        place = {"chat_id": ANN, "message_id": sent.message_id}
        fake.control("press", token=TOKEN, person=ANN, data="hp1:a:yes", **place)
        query = await asyncio.wait_for(pressed.get(), PATIENCE_SECS)
        await app.updater.stop()
        await app.stop()
    assert (query.data, query.message.message_id) == ("hp1:a:yes", sent.message_id), query
    assert fake.calls("answerCallbackQuery"), "it was answered"


async def sends_and_fetches_files(fake):
    async with bot(fake) as client:
        sent = await client.send_document(ANN, b"some bytes", filename="plan.txt", caption="see")
        assert (sent.caption, sent.document.file_id) == ("see", "plan.txt"), sent
        by_id = await client.send_photo(ANN, "large")
        assert by_id.photo[0].file_id == "large", by_id
        file = await client.get_file("large")
        assert bytes(await file.download_as_bytearray()) == b"what is in large"


async def is_told_to_wait(fake):
    async with bot(fake) as client:
        fake.fault("sendMessage", "refuse", status=429, description="Too Many Requests: retry after 3", retry_after=3)
        wait = await refused(RetryAfter, client.send_message(ANN, "too often"))
        assert wait._retry_after.total_seconds() == 3, wait
        fake.fault("sendMessage", "hang_up")
        await refused(NetworkError, client.send_message(ANN, "hello?"))
        await client.send_message(ANN, "again")


async def numbers_begin_anew(fake):
    async with bot(fake) as client:
        fake.control("renumber", token=TOKEN, next=5000)
        fake.says("before")
        last = (await client.get_updates())[-1].update_id
        assert (await client.get_updates(offset=last + 1)) == ()
        fake.control("renumber", token=TOKEN, next=7)
        fake.says("after")
        updates = await client.get_updates(offset=last + 1)
        assert [update.update_id for update in updates] == [7], updates


CHECKS = [
    knows_itself,
    polls_and_answers,
    a_second_poller_ends_the_first,
    a_webhook_is_set_and_taken_back,
    sends_edits_deletes_and_reacts,
    refuses_what_telegram_refuses,
    knows_chats_and_topics,
    asks_with_buttons,
    sends_and_fetches_files,
    is_told_to_wait,
    numbers_begin_anew,
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
    checks = [check for check in CHECKS if not names or check.__name__ in names]
    passed = sum(passes(check) for check in checks)
    version = telegram.__version__
    print(f"python-telegram-bot: version={version} checks={len(checks)} passed={passed}")
    return 0 if checks and passed == len(checks) else 1


sys.exit(main(sys.argv[1:]))
