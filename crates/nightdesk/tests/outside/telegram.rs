//! The command of the Telegram page and its effect for a person, on the fake Telegram.

use nightdesk_fake_telegram::{FakeTelegram, Fault};
use tokio::runtime::Runtime;

use crate::desk::{Desk, value, wait_until};
use crate::docs::{Variables, blocks, entered_on};

const PAGE: &str = include_str!("../../../../docs/telegram.md");
const TOKEN: &str = "4242:the-key";

/// A fake Telegram with one bot, for desks that run as processes.
pub(crate) struct Fake {
    fake: FakeTelegram,
    /// The runtime of the fake.
    _runtime: Runtime,
}

impl Fake {
    pub(crate) fn open() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let fake = runtime.block_on(FakeTelegram::open());
        fake.bot(TOKEN, "desk_bot");
        Self { fake, _runtime: runtime }
    }

    /// Returns the section of a desk's configuration for the fake.
    pub(crate) fn section(&self) -> String {
        format!("\n[telegram]\napi_url = \"{}\"\n", self.fake.url())
    }

    /// Writes the bot's token to the file that commands read.
    pub(crate) fn key_file(desk: &Desk) {
        std::fs::write(desk.folder().join("telegram.key"), TOKEN).expect("write the key");
    }
}

struct Stage {
    fake: Fake,
    desk: Desk,
    entered: Variables,
}

fn stage() -> Stage {
    stage_with("")
}

/// Returns the same stage with additional configuration of the desk.
fn stage_with(more: &str) -> Stage {
    let fake = Fake::open();
    let (desk, entered) = entered_on(&[more, &fake.section()].concat());
    Fake::key_file(&desk);
    Stage { fake, desk, entered }
}

impl Stage {
    /// Connects the bot as the page documents it, and binds a person to it.
    fn connect(&mut self, more: &str) -> String {
        let line = format!("{} {more}", blocks(PAGE, "sh")[0].trim());
        let answer = self.entered.run(&self.desk, &line);
        let bot = value(&answer, "bot_id");
        let bind = format!(
            "nightdesk binding create --tenant $TENANT --agent $AGENT --bot {bot} --author 900"
        );
        self.entered.run(&self.desk, &bind);
        answer
    }

    /// Sends a message and checks that it is confirmed to Telegram, and so stored.
    fn hears(&self, text: &str) {
        let entries = || self.desk.sql("select count(*) from inbox_entries").trim().to_owned();
        let before: u32 = entries().parse().expect("a number");
        self.fake.fake.says(TOKEN, 900, text);
        wait_until("Telegram is told that it was stored", || self.fake.fake.pending(TOKEN) == 0);
        assert_eq!(entries(), (before + 1).to_string());
    }
}

#[test]
fn a_person_is_heard_after_the_pages_command() {
    let mut stage = stage();
    let answer = stage.connect("");
    assert_eq!(value(&answer, "handle"), "desk_bot");
    stage.hears("canary-7f3a");

    stage.desk.stop();
    let log = stage.desk.log();
    assert!(!log.contains("the-key") && !log.contains("canary"), "{log}");
}

#[test]
fn a_person_is_heard_by_webhook_also_after_the_key_was_replaced() {
    let mut stage = stage();
    let answer = stage.connect("--webhook");
    assert!(value(&answer, "updates").contains("/hooks/"), "{answer}");
    stage.hears("hello");

    let rotate = format!(
        "nightdesk bot rotate-key --tenant $TENANT --bot {} --key-file telegram.key",
        value(&answer, "bot_id")
    );
    stage.entered.run(&stage.desk, &rotate);
    stage.hears("hello again");
    stage.desk.stop();
}

#[test]
fn a_token_that_telegram_does_not_take_enters_nobody() {
    let stage = stage();
    std::fs::write(stage.desk.folder().join("telegram.key"), "4242:another")
        .expect("write the key");
    let said =
        stage.desk.fails("nightdesk bot connect telegram --tenant acme --key-file telegram.key");
    assert!(said.contains("rejects this token") && !said.contains("another"), "{said}");
    let bots = stage.desk.sql("select count(*) from bots where platform = 'telegram'");
    assert_eq!(bots.trim(), "0");
}

// F41: one poller, by lease.
#[test]
fn of_two_nodes_one_asks_and_the_other_when_it_is_gone() {
    let mut stage = stage_with("[node]\nname = \"here\"\n");
    let mut there = stage.desk.beside("here", "there");
    there.serve();
    stage.connect("");
    stage.hears("one");
    stage.hears("two");
    stage.desk.signal("-KILL");
    assert!(!stage.desk.ended());
    stage.hears("three");

    let calls = stage.fake.fake.calls().into_iter();
    let refused: Vec<_> = calls.filter_map(|call| call.answered.err()).collect();
    assert_eq!(refused, [], "nobody ever asked beside another");
    there.stop();
}

#[test]
fn who_has_no_file_is_asked_for_the_token_and_a_bot_is_entered_once() {
    let stage = stage();
    let connect = "nightdesk bot connect telegram --tenant acme < telegram.key";
    let answer = stage.desk.run(connect, &[]);
    assert_eq!(value(&answer, "handle"), "desk_bot");

    let again = stage.desk.fails(connect);
    assert!(again.contains("@BotFather") && again.contains("exists already"), "{again}");
    assert!(again.contains(value(&answer, "bot_id")), "{again}");
    let none = stage.desk.fails("nightdesk bot connect telegram --tenant acme < /dev/null");
    assert!(none.contains("no token was entered"), "{none}");
}

#[test]
fn what_is_wrong_with_a_bot_is_said_and_it_can_be_removed() {
    let mut stage = stage();
    let bot = value(&stage.connect("--webhook"), "bot_id").to_owned();
    let whose = format!("--tenant acme --bot {bot}");
    let well = stage.desk.run(&format!("nightdesk bot check {whose}"), &[]);
    assert!(well.contains("wrong: []") && well.contains("\"username\":\"desk_bot\""), "{well}");

    stage.fake.fake.misbehave(Fault::refuse("getMe", 2, 401, "Unauthorized"));
    let wrong = stage.desk.fails(&format!("nightdesk bot check {whose}"));
    assert!(wrong.contains("rejects the token"), "{wrong}");
    let wrong = stage.desk.fails(&format!("nightdesk bot check {whose} --json"));
    assert!(wrong.starts_with('{') && !wrong.contains("the-key"), "{wrong}");

    let meant = stage.desk.fails(&format!("nightdesk bot remove {whose}"));
    assert!(meant.contains("--yes to confirm"), "{meant}");
    let removed = stage.desk.run(&format!("nightdesk bot remove {whose} --yes"), &[]);
    assert_eq!(value(&removed, "platform"), "the webhook was removed");
    let left = "select (select count(*) from bots where platform = 'telegram') || ' ' ||
        (select count(*) from bindings) || ' ' || (select count(*) from bot_hearings)";
    assert_eq!(stage.desk.sql(left), "0 0 0");
    let gone = stage.desk.fails(&format!("nightdesk bot check {whose}"));
    assert!(gone.contains("runs no such bot"), "{gone}");
    stage.connect("");
    stage.hears("hello");
    stage.desk.stop();
}
