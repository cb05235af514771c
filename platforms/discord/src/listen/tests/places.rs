//! Tests of the places of messages, and of backfill.

use super::*;

fn in_guild(channel: &str) -> Value {
    json!({
        "id": "1001", "channel_id": channel, "guild_id": "70", "content": "hi",
        "author": { "id": "900", "username": "ann" }, "member": { "roles": [] },
    })
}

/// Returns the events of these dispatches.
async fn heard_of(stage: &Stage, told: &[(&str, Value)]) -> Vec<PlatformEvent> {
    let mut cursor = Some(stage.cursor(1));
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        let (mut line, _) = stage.gateway.resumed().await;
        for (seq, (kind, data)) in (2..).zip(told) {
            line.tell(kind, seq, data.clone()).await;
        }
        std::mem::forget(line);
    });
    heard
}

fn place(heard: &[PlatformEvent]) -> (ChatType, Option<String>, Option<String>) {
    let said = heard.iter().find_map(|one| one.event.as_ref().ok()?.as_ref()).unwrap();
    let source = &said.source;
    (source.chat_type, source.thread_id.clone(), source.parent_chat_id.clone())
}

#[tokio::test]
async fn what_is_said_in_a_thread_that_nobody_told_of_has_its_place() {
    let stage = stage().await;
    let room = json!({ "id": "510", "type": 11, "parent_id": "500", "guild_id": "70" });
    stage.stub.answer(200, room);
    let heard = heard_of(&stage, &[("MESSAGE_CREATE", in_guild("510"))]).await;
    let thread = (ChatType::Thread, Some("510".to_owned()), Some("500".to_owned()));
    assert_eq!(place(&heard), thread);
    assert_eq!(stage.stub.last().what, "GET /api/v10/channels/510");

    let again = stage.listen(Some(&stage.cursor(1))).await.unwrap();
    assert_eq!(place(&again), thread);
    assert_eq!(stage.stub.asked().len(), 1, "it is asked for once");
}

#[tokio::test]
async fn what_was_told_of_is_not_asked_for() {
    let stage = stage().await;
    let guild = json!({
        "id": "70", "owner_id": "1", "roles": [], "members": [],
        "channels": [{ "id": "500", "type": 0, "name": "general" }],
        "threads": [{ "id": "510", "type": 11, "parent_id": "500", "name": "plans" }],
    });
    let told = [("GUILD_CREATE", guild), ("MESSAGE_CREATE", in_guild("510"))];
    let heard = heard_of(&stage, &told).await;
    assert_eq!(place(&heard).0, ChatType::Thread);
    assert_eq!(stage.stub.asked().len(), 0);
}

#[tokio::test]
async fn a_channel_that_cannot_be_asked_about_holds_nothing_up_for_long() {
    let stage = stage().await;
    for _ in 0..2 {
        stage.stub.answer(500, json!({}));
    }
    let cursor = stage.cursor(1);
    let (first, ()) = join!(stage.listen(Some(&cursor)), async {
        let (mut line, _) = stage.gateway.resumed().await;
        line.tell("MESSAGE_CREATE", 2, in_guild("510")).await;
        std::mem::forget(line);
    });
    assert!(matches!(first, Err(ListenError::Unavailable(_))), "it may be known the next time");
    let second = stage.listen(Some(&cursor)).await.unwrap();
    assert_eq!(place(&second).0, ChatType::Group);
}

#[tokio::test]
async fn an_interaction_bears_its_token_and_is_taken_when_it_is_stored() {
    let stage = stage().await;
    let told = crate::events::tests::fixture("command_guild");
    let heard = heard_of(&stage, &[("INTERACTION_CREATE", told["d"].clone())]).await;
    let lent = heard[0].capability.as_ref().unwrap();
    assert!(lent.secret.with(|token| token == "canary-interaction-token"));
    assert!(heard[0].body.is_empty());
    assert_eq!(stage.stub.asked().len(), 0, "nothing is promised yet");

    let stored = heard[0].cursor.clone();
    let listening = stage.listen(Some(&stored));
    let taken = async {
        while stage.stub.asked().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = listening => panic!("nothing more is said"),
        () = taken => {}
    }
    let asked = stage.stub.last();
    let path = "POST /api/v10/interactions/2001/canary-interaction-token/callback";
    assert_eq!((asked.what.as_str(), asked.body), (path, json!({ "type": 5 })));
}

#[tokio::test]
async fn what_fell_into_a_gap_is_fetched_oldest_first() {
    let stage = stage().await;
    stage.stub.answer(200, json!({ "id": "500", "type": 0, "guild_id": "70", "name": "general" }));
    let message = |id: u64| {
        json!({
            "id": id.to_string(), "channel_id": "500", "content": format!("m{id}"),
            "author": { "id": "900", "username": "ann" },
        })
    };
    stage.stub.answer(200, json!([message(1003), message(1002)]));
    let found = stage.discord.backfill(&bot(), "500", HistoryRange::After("1001")).await.unwrap();

    assert_eq!(texts(&found), ["m1002", "m1003"]);
    assert_eq!(found[1].cursor, "1003");
    let draft = found[0].event.as_ref().unwrap().as_ref().unwrap();
    assert_eq!((draft.key.as_str(), draft.source.scope_id.as_deref()), ("m:1002", Some("70")));
    let asked = "GET /api/v10/channels/500/messages?after=1001&limit=100";
    assert_eq!(stage.stub.last().what, asked);
    assert!(stage.discord.backfill(&bot(), "../x", HistoryRange::After("1")).await.is_err());
}
