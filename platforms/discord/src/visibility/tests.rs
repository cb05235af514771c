//! Tests of visibility as events change it.

use serde_json::{Value, json};

use super::*;
use crate::tests::stub::Stub;
use crate::tests::{bot, discord_at};

mod oracle;

const VIEW: u64 = 1 << 10;
const ADMINISTRATOR: u64 = 1 << 3;
const MANAGE_THREADS: u64 = 1 << 34;

const OWNER: &str = "1";
const ANN: &str = "900";

/// A guild in which all members see `500`, only the role `71` sees `501`, and Ann has that role.
fn home() -> Value {
    let overwrite = |id: &str, allow: u64, deny: u64| json!({ "id": id, "type": 0, "allow": allow.to_string(), "deny": deny.to_string() });
    json!({
        "id": "70", "owner_id": OWNER,
        "roles": [
            { "id": "70", "permissions": VIEW.to_string() },
            { "id": "71", "permissions": "0" },
            { "id": "72", "permissions": ADMINISTRATOR.to_string() },
            { "id": "73", "permissions": MANAGE_THREADS.to_string() },
        ],
        "channels": [
            { "id": "500", "type": 0 },
            { "id": "501", "type": 0, "permission_overwrites": [
                overwrite("70", 0, VIEW), overwrite("71", VIEW, 0),
            ] },
        ],
        "threads": [
            { "id": "510", "type": 11, "parent_id": "501", "owner_id": "1" },
            { "id": "511", "type": 12, "parent_id": "500", "owner_id": "902" },
        ],
        "members": [member(ANN, &["71"]), member("901", &[]), member(OWNER, &[]), member("902", &[])],
    })
}

fn member(id: &str, roles: &[&str]) -> Value {
    json!({ "guild_id": "70", "user": { "id": id }, "roles": roles })
}

struct Stage(GuildCache);

impl Stage {
    fn new() -> Self {
        let stage = Self(GuildCache::default());
        stage.told("GUILD_CREATE", &home());
        stage
    }

    fn told(&self, kind: &str, data: &Value) {
        self.0.apply_event(bot().id, kind, data.to_string().as_bytes());
    }

    /// Returns whether a person sees another person's message in a channel.
    fn sight(&self, channel: &str, person: &str) -> Visibility {
        self.0.visibility_of(bot().id, &at(channel), person)
    }
}

fn at(channel: &str) -> Source {
    Source {
        chat_id: channel.to_owned(),
        scope_id: Some("70".to_owned()),
        user_id: Some("903".to_owned()),
        ..Source::default()
    }
}

#[test]
fn a_channel_is_seen_by_who_may() {
    let stage = Stage::new();
    let cases = [
        ("500", ANN, Visibility::Sees),
        ("500", "901", Visibility::Sees),
        ("501", ANN, Visibility::Sees),
        ("501", "901", Visibility::Blind),
        ("501", OWNER, Visibility::Sees),
        ("510", ANN, Visibility::Sees),
        ("510", "901", Visibility::Blind),
        ("500", "999", Visibility::Unknown),
        ("599", ANN, Visibility::Unknown),
        ("500", "nobody", Visibility::Unknown),
        ("511", "902", Visibility::Sees),
        ("511", ANN, Visibility::Unknown),
        ("511", OWNER, Visibility::Sees),
    ];
    for (channel, person, want) in cases {
        assert_eq!(stage.sight(channel, person), want, "{person} in {channel}");
    }
}

#[test]
fn outside_a_guild_there_is_nobody_else() {
    let stage = Stage::new();
    let alone = Source { scope_id: None, user_id: Some(ANN.to_owned()), ..at("600") };
    assert_eq!(stage.0.visibility_of(bot().id, &alone, ANN), Visibility::Sees);
    assert_eq!(stage.0.visibility_of(bot().id, &alone, "901"), Visibility::Blind);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_changes_counts_at_once() {
    let role = |id: &str, permissions: u64| json!({ "guild_id": "70", "role": { "id": id, "permissions": permissions.to_string() } });
    let channel = |id: &str, overwrites: Value| json!({ "guild_id": "70", "id": id, "type": 0, "permission_overwrites": overwrites });
    let shut = json!([{ "id": ANN, "type": 1, "allow": "0", "deny": VIEW.to_string() }]);
    let add =
        |id: &str| json!({ "id": "511", "guild_id": "70", "added_members": [{ "user_id": id }] });
    let cases: [(&str, &str, Value, &str, &str, Visibility); 19] = [
        ("a role lost", "GUILD_MEMBER_UPDATE", member(ANN, &[]), "501", ANN, Visibility::Blind),
        (
            "a role gained",
            "GUILD_MEMBER_UPDATE",
            member("901", &["71"]),
            "501",
            "901",
            Visibility::Sees,
        ),
        (
            "made an administrator",
            "GUILD_MEMBER_UPDATE",
            member("901", &["72"]),
            "501",
            "901",
            Visibility::Sees,
        ),
        ("gone", "GUILD_MEMBER_REMOVE", member(ANN, &[]), "500", ANN, Visibility::Blind),
        (
            "a role deleted",
            "GUILD_ROLE_DELETE",
            json!({ "guild_id": "70", "role_id": "71" }),
            "501",
            ANN,
            Visibility::Blind,
        ),
        (
            "a role that may more",
            "GUILD_ROLE_UPDATE",
            role("71", ADMINISTRATOR),
            "501",
            ANN,
            Visibility::Sees,
        ),
        (
            "nobody sees anything",
            "GUILD_ROLE_UPDATE",
            role("70", 0),
            "500",
            "901",
            Visibility::Blind,
        ),
        ("shut out by name", "CHANNEL_UPDATE", channel("500", shut), "500", ANN, Visibility::Blind),
        (
            "opened to all",
            "CHANNEL_UPDATE",
            channel("501", json!([])),
            "501",
            "901",
            Visibility::Sees,
        ),
        (
            "opened, and its thread",
            "CHANNEL_UPDATE",
            channel("501", json!([])),
            "510",
            "901",
            Visibility::Sees,
        ),
        ("deleted", "CHANNEL_DELETE", channel("501", json!([])), "501", ANN, Visibility::Unknown),
        (
            "deleted, and its thread",
            "CHANNEL_DELETE",
            channel("501", json!([])),
            "510",
            ANN,
            Visibility::Unknown,
        ),
        (
            "another owner",
            "GUILD_UPDATE",
            {
                let mut g = home();
                g["owner_id"] = json!("901");
                g
            },
            "501",
            "901",
            Visibility::Sees,
        ),
        (
            "the guild is away",
            "GUILD_DELETE",
            json!({ "id": "70", "unavailable": true }),
            "500",
            ANN,
            Visibility::Unknown,
        ),
        (
            "let into a private thread",
            "THREAD_MEMBERS_UPDATE",
            add("901"),
            "511",
            "901",
            Visibility::Sees,
        ),
        ("a new session", "READY", json!({}), "500", ANN, Visibility::Unknown),
        ("one on its socket", "READY", json!({ "shard": [0, 2] }), "500", ANN, Visibility::Unknown),
        ("one on another", "READY", json!({ "shard": [1, 2] }), "500", ANN, Visibility::Sees),
        ("an odd one", "READY", json!({ "shard": [0, 0] }), "500", ANN, Visibility::Unknown),
    ];
    for (name, kind, told, at, person, want) in cases {
        let stage = Stage::new();
        stage.told(kind, &told);
        assert_eq!(stage.sight(at, person), want, "{name}");
    }
}

#[test]
fn who_manages_threads_sees_private_ones() {
    let stage = Stage::new();
    stage.told("GUILD_MEMBER_UPDATE", &member("901", &["73"]));
    assert_eq!(stage.sight("511", "901"), Visibility::Sees);
    let wrote = Source { user_id: Some(ANN.to_owned()), ..at("511") };
    assert_eq!(
        stage.0.visibility_of(bot().id, &wrote, ANN),
        Visibility::Sees,
        "who wrote there is in it"
    );
}

#[test]
fn who_speaks_is_known_by_it() {
    let stage = Stage::new();
    let wrote = |roles: &[&str]| json!({ "guild_id": "70", "author": { "id": "905" }, "member": { "roles": roles } });
    stage.told("MESSAGE_CREATE", &wrote(&["71"]));
    assert_eq!(stage.sight("501", "905"), Visibility::Sees);
    stage.told("MESSAGE_CREATE", &wrote(&[]));
    assert_eq!(stage.sight("501", "905"), Visibility::Blind);
    // A member update does not add a person to the cache.
    stage.told("GUILD_MEMBER_UPDATE", &member("906", &["71"]));
    assert_eq!(stage.sight("501", "906"), Visibility::Unknown);
}

#[test]
fn what_cannot_be_read_is_no_yes() {
    let odd = [
        (
            "GUILD_ROLE_UPDATE",
            json!({ "guild_id": "70", "role": { "id": "70", "permissions": "x" } }),
        ),
        ("CHANNEL_UPDATE", json!({ "guild_id": "70", "id": "500", "permission_overwrites": [{}] })),
        ("GUILD_MEMBER_UPDATE", json!({ "guild_id": "70" })),
        ("GUILD_UPDATE", json!("odd")),
        ("GUILD_CREATE", json!({ "id": "70", "roles": "odd" })),
    ];
    for (kind, told) in odd {
        let stage = Stage::new();
        stage.told(kind, &told);
        assert_eq!(stage.sight("500", ANN), Visibility::Unknown, "{kind}");
    }
}

#[test]
fn what_is_remembered_has_a_bound() {
    let stage = Stage::new();
    for id in 10_000_u32..13_000 {
        let channel =
            json!({ "guild_id": "70", "id": id.to_string(), "type": 11, "parent_id": "500" });
        stage.told("THREAD_CREATE", &channel);
        let author = json!({ "id": id.to_string() });
        let wrote = json!({ "guild_id": "70", "author": author, "member": { "roles": [] } });
        stage.told("MESSAGE_CREATE", &wrote);
    }
    assert_eq!(stage.sight("500", "12999"), Visibility::Sees);
    assert_eq!(stage.sight("500", "10000"), Visibility::Unknown, "it was forgotten");
    assert_eq!(stage.sight("10000", "12999"), Visibility::Unknown);
}

#[tokio::test]
async fn what_was_not_told_is_asked_for() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    let home = home();
    let thread = json!({ "id": "510", "type": 11, "parent_id": "501", "guild_id": "70" });
    let mut channel = home["channels"][1].clone();
    channel["guild_id"] = json!("70");
    for answer in [&home, &thread, &channel, &member(ANN, &["71"])] {
        stub.answer(200, answer.clone());
    }
    assert_eq!(discord.visibility_of(&bot(), &at("510"), ANN), Visibility::Unknown);
    discord.fetch_missing(&bot(), &at("510"), ANN).await;
    assert_eq!(discord.visibility_of(&bot(), &at("510"), ANN), Visibility::Sees);
    let asked: Vec<String> = stub.asked().into_iter().map(|asked| asked.what).collect();
    let paths = ["guilds/70", "channels/510", "channels/501", "guilds/70/members/900"];
    assert_eq!(asked, paths.map(|path| format!("GET /api/v10/{path}")));

    for (status, answer) in [(200, &thread), (200, &channel), (404, &json!({ "code": 10_007 }))] {
        stub.answer(status, answer.clone());
    }
    discord.fetch_missing(&bot(), &at("510"), "901").await;
    assert_eq!(
        discord.visibility_of(&bot(), &at("510"), "901"),
        Visibility::Blind,
        "they are not there"
    );
    discord.fetch_missing(&bot(), &at("510"), ANN).await;
    assert_eq!(stub.asked().len(), 7, "what is known is not asked for");
}

#[tokio::test]
async fn what_could_not_be_learnt_is_no_yes() {
    let foreign = json!({ "id": "510", "type": 0, "guild_id": "99" });
    let cases: [(&str, Vec<(u16, Value)>); 3] = [
        ("it is down", vec![(500, json!({}))]),
        ("it may not be asked", vec![(403, json!({ "code": 50_001 }))]),
        (
            "the channel is of another guild",
            vec![(200, home()), (200, foreign), (200, member(ANN, &["72"]))],
        ),
    ];
    for (name, answers) in cases {
        let stub = Stub::open().await;
        let discord = discord_at(&stub.url);
        for (status, answer) in answers {
            stub.answer(status, answer);
        }
        discord.fetch_missing(&bot(), &at("510"), ANN).await;
        assert_eq!(discord.visibility_of(&bot(), &at("510"), ANN), Visibility::Unknown, "{name}");
    }
}
