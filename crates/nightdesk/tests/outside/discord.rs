//! The command of the Discord page and its effect for a person, on the fake Discord.

use std::time::Duration;

use nightdesk_fake_discord::{FakeDiscord, Settings};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::desk::{Desk, value, wait_until};
use crate::docs::{Variables, blocks, entered_on};

const PAGE: &str = include_str!("../../../../docs/discord.md");

/// The part before the first dot is the bot's id, 4242.
const TOKEN: &str = "NDI0Mg.Gabcde.the-key";
const ANN: u64 = 900;
const GUILD: u64 = 70;
const GENERAL: u64 = 500;

struct Stage {
    fake: FakeDiscord,
    desk: Desk,
    entered: Variables,
    /// The runtime of the fake.
    _runtime: Runtime,
}

fn stage() -> Stage {
    let runtime = Runtime::new().expect("a runtime");
    let settings = Settings { identify_every: Duration::ZERO, ..Settings::default() };
    let fake = runtime.block_on(FakeDiscord::start_with(settings)).expect("a free port");
    fake.bot(TOKEN, 4242, "desk");
    fake.person(ANN, "ann");
    fake.guild(&json!({
        "id": GUILD.to_string(), "name": "Home", "owner_id": "1",
        "members": [{ "user": { "id": ANN.to_string() }, "roles": [] }],
        "channels": [{ "id": GENERAL.to_string(), "name": "general" }],
    }));
    fake.join(TOKEN, GUILD);
    let (api, gateway) = (fake.url(), fake.gateway_url());
    let section = format!("\n[discord]\napi_url = \"{api}\"\ngateway_url = \"{gateway}\"\n");
    let (desk, entered) = entered_on(&section);
    std::fs::write(desk.folder().join("discord.key"), TOKEN).expect("write the key");
    Stage { fake, desk, entered, _runtime: runtime }
}

#[test]
fn a_person_is_heard_after_the_pages_command_and_nobody_else_sees_the_key() {
    let mut stage = stage();
    let answer = stage.entered.run(&stage.desk, blocks(PAGE, "sh")[0].trim());
    assert_eq!(value(&answer, "handle"), "desk");
    let bot = value(&answer, "bot_id");
    let bind = format!(
        "nightdesk binding create --tenant $TENANT --agent $AGENT --bot {bot} --author {ANN}"
    );
    stage.entered.run(&stage.desk, &bind);
    wait_until("the bot is there", || !stage.fake.identifies().is_empty());
    let entries = || stage.desk.sql("select count(*) from inbox_entries").trim().to_owned();
    let before: u32 = entries().parse().expect("a number");
    // Messages before the session is established are not delivered.
    wait_until("what is said is heard", || {
        stage.fake.say(ANN, GENERAL, "<@4242> canary-7f3a");
        entries().parse::<u32>().expect("a number") > before
    });

    let checked = stage
        .entered
        .run(&stage.desk, &format!("nightdesk bot check --tenant $TENANT --bot {bot}"));
    assert_eq!(value(&checked, "wrong"), "[]", "{checked}");
    stage.desk.stop();
    let log = stage.desk.log();
    assert!(!log.contains("the-key") && !log.contains("canary"), "{log}");
}

#[test]
fn a_token_that_discord_does_not_take_enters_nobody() {
    let stage = stage();
    std::fs::write(stage.desk.folder().join("discord.key"), "NDI0Mg.Gabcde.another")
        .expect("write the key");
    let said =
        stage.desk.fails("nightdesk bot connect discord --tenant acme --key-file discord.key");
    assert!(said.contains("rejects this token") && !said.contains("another"), "{said}");
    let bots = stage.desk.sql("select count(*) from bots where platform = 'discord'");
    assert_eq!(bots.trim(), "0");
}
