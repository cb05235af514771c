//! The 95 keys that 0.19.0 computed, and the changes after it.

use nightdesk_protocol::session_key::{
    KeySource, SessionKey, Sharing, Unkeyable, newest_key, stock_key,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Case {
    source: Value,
    key: Option<String>,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    note: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    group_sessions_per_user: Option<bool>,
    thread_sessions_per_user: Option<bool>,
    profile: Option<String>,
}

impl From<Options> for Sharing {
    fn from(options: Options) -> Self {
        let default = Self::default();
        Self {
            group_sessions_per_user: options
                .group_sessions_per_user
                .unwrap_or(default.group_sessions_per_user),
            thread_sessions_per_user: options
                .thread_sessions_per_user
                .unwrap_or(default.thread_sessions_per_user),
            profile: options.profile,
        }
    }
}

fn source(wire: &Value) -> KeySource<'_> {
    KeySource::deserialize(wire).expect("any object is a source")
}

#[test]
fn computes_the_keys_of_the_stock_client() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../vectors/session_keys.json")).unwrap();
    assert_eq!(cases.len(), 95);

    for case in cases {
        let key = stock_key(&source(&case.source), &case.options.into()).ok();
        assert_eq!(key.as_ref().map(SessionKey::as_str), case.key.as_deref(), "{}", case.note);
    }
}

#[test]
fn computes_the_keys_of_the_newest_client() {
    let slack = json!({"platform": "slack", "chat_id": "D0", "user_id": "U0", "scope_id": "T0"});
    let with = |more: Value| {
        let mut source = slack.as_object().cloned().expect("an object");
        source.extend(more.as_object().cloned().expect("an object"));
        Value::Object(source)
    };
    let discord = json!({
        "platform": "discord", "chat_id": "c1", "chat_type": "group", "user_id": "u1",
        "scope_id": "g1", "prospective_thread_id": "m1",
    });
    let in_thread = json!({
        "platform": "discord", "chat_id": "c1", "chat_type": "thread", "user_id": "u2",
        "scope_id": "g1", "thread_id": "m1",
    });
    let cases = [
        ("slack dm", slack.clone(), "agent:main:slack:dm:T0:D0"),
        ("slack dm thread", with(json!({"thread_id": "1.2"})), "agent:main:slack:dm:T0:D0:1.2"),
        ("slack dm without chat", with(json!({"chat_id": ""})), "agent:main:slack:dm:T0:U0"),
        ("slack room", with(json!({"chat_type": "group"})), "agent:main:slack:group:T0:D0:U0"),
        ("no scope elsewhere", with(json!({"platform": "signal"})), "agent:main:signal:dm:D0"),
        ("opens a thread", discord, "agent:main:discord:thread:c1:m1"),
        ("is in that thread", in_thread, "agent:main:discord:thread:c1:m1"),
        (
            "a dm opens no thread",
            json!({"platform": "discord", "chat_id": "c1", "prospective_thread_id": "m1"}),
            "agent:main:discord:dm:c1",
        ),
        (
            "a real thread wins",
            json!({
                "platform": "discord", "chat_id": "c1", "chat_type": "group",
                "thread_id": "t1", "prospective_thread_id": "m1",
            }),
            "agent:main:discord:group:c1:t1",
        ),
        (
            "numbers are written",
            json!({"platform": "telegram", "chat_id": -100, "chat_type": "forum", "thread_id": 3}),
            "agent:main:telegram:forum:-100:3",
        ),
    ];
    for (name, wire, want) in cases {
        let key = newest_key(&source(&wire), &Sharing::default()).unwrap();
        assert_eq!(key.as_str(), want, "{name}");
    }
}

#[test]
fn a_profile_called_main_is_not_the_one_everybody_has() {
    let wire = json!({"platform": "discord", "chat_id": "c1"});
    let main = Sharing { profile: Some("main".to_owned()), ..Sharing::default() };

    let key = |key: Result<_, Unkeyable>| key.map(|key| format!("{key}"));
    assert_eq!(key(newest_key(&source(&wire), &main)), Ok("agent:main~:discord:dm:c1".to_owned()));
    assert_eq!(key(stock_key(&source(&wire), &main)), Ok("agent:main:discord:dm:c1".to_owned()));
}
