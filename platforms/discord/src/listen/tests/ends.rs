//! F40: ends of conversations, and the next conversation.

use super::*;

/// Returns the result of listening when the gateway closes with this code.
async fn outcome(stage: &Stage, code: u16) -> (Result<Vec<PlatformEvent>, ListenError>, ()) {
    let cursor = stage.cursor(1);
    join!(stage.listen(Some(&cursor)), async {
        let (line, _) = stage.gateway.greeted().await;
        line.close(code).await;
    })
}

#[tokio::test]
async fn a_key_that_is_not_taken_is_not_tried_again() {
    let stage = stage().await;
    let (heard, ()) = outcome(&stage, 4004).await;
    assert!(matches!(heard, Err(ListenError::KeyRejected)));
    for _ in 0..3 {
        let again = stage.listen(None).await;
        assert!(matches!(again, Err(ListenError::KeyRejected)));
    }
    assert!(stage.gateway.is_quiet().await, "nobody dialled");

    let other = Bot { key: Some(Key::new("NDI0Mg.other.key".to_owned())), ..bot() };
    let cursor = stage.cursor(1);
    let (heard, ()) = join!(stage.discord.listen(&other, Some(&cursor)), async {
        let (mut line, _) = stage.gateway.resumed().await;
        line.says(2, "hi").await;
        std::mem::forget(line);
    });
    assert_eq!(texts(&heard.unwrap()), ["hi"]);
}

#[tokio::test]
async fn what_somebody_has_to_change_is_said_and_tried_again_later() {
    let stage = stage().await;
    for code in [4013, 4014] {
        let (heard, ()) = outcome(&stage, code).await;
        assert!(matches!(heard, Err(ListenError::Barred { .. })), "{code}");
        assert!(stage.gateway.is_quiet().await, "{code}");
        stage.clock.let_pass(FATAL_AGAIN);
    }
}

#[tokio::test]
async fn a_session_that_is_lost_leaves_a_gap_that_is_told_of() {
    for end in ["op 9", "4007", "4009"] {
        let stage = stage().await;
        let cursor = stage.cursor(5);
        let (heard, ()) = join!(stage.listen(Some(&cursor)), async {
            let (mut line, _) = stage.gateway.resumed().await;
            match end {
                "op 9" => line.say(json!({ "op": 9, "d": false })).await,
                code => line.close(code.parse().unwrap()).await,
            }
            std::mem::forget(stage.gateway.ready().await);
        });
        let heard = heard.unwrap();
        assert!(heard[0].is_after_gap, "{end}");
        assert_eq!(heard[0].event, Ok(None), "{end}");
        let SocketCursors(after) = SocketCursors::parse(Some(&heard[0].cursor));
        assert_eq!(after[0].as_ref().map(|cursor| cursor.seq), Some(1), "{end}");
    }
}

#[tokio::test]
async fn what_discord_asks_for_costs_no_session() {
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(5));
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        for frame in [json!({ "op": 7 }), json!({ "op": 9, "d": true })] {
            let (mut line, after) = stage.gateway.resumed().await;
            assert!(after <= 6);
            line.tell("RESUMED", 6, json!({})).await;
            line.say(frame).await;
            assert_eq!(line.ended().await, Some(4000), "with any other code the session is over");
        }
        let (mut line, after) = stage.gateway.resumed().await;
        assert!(after <= 6);
        line.says(7, "still here").await;
        std::mem::forget(line);
    });
    assert_eq!(texts(&heard), ["still here"]);
    assert_eq!(stage.purse.0.load(Ordering::SeqCst), 10);
}

#[tokio::test]
async fn a_dead_address_of_a_session_is_left_for_the_main_one() {
    let stage = stage().await;
    let dead =
        SessionCursor { session: "s1".to_owned(), url: "ws://127.0.0.1:1".to_owned(), seq: 5 };
    let dead = SocketCursors(vec![Some(dead)]).to_text();
    let (heard, ()) = join!(stage.listen(Some(&dead)), async {
        let (mut line, after) = stage.gateway.resumed().await;
        assert_eq!(after, 5);
        line.says(6, "found").await;
        std::mem::forget(line);
    });
    assert_eq!(texts(&heard.unwrap()), ["found"]);
}

#[tokio::test]
async fn a_heart_that_is_not_heard_is_hung_up_on() {
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(5));
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        let mut line = stage.gateway.line().await;
        line.say(json!({ "op": 10, "d": { "heartbeat_interval": 60 } })).await;
        assert_eq!(line.hear().await["op"], 6);
        assert_eq!(line.hear().await, json!({ "op": 1, "d": 5 }));
        assert_eq!(line.ended().await, Some(4000));
        let (mut line, _) = stage.gateway.resumed().await;
        line.says(6, "alive").await;
        std::mem::forget(line);
    });
    assert_eq!(texts(&heard), ["alive"]);
}

#[tokio::test]
async fn an_event_that_is_missing_is_asked_for() {
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(5));
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        let (mut line, _) = stage.gateway.resumed().await;
        line.says(8, "too soon").await;
        assert_eq!(line.ended().await, Some(4000));
        let (mut line, after) = stage.gateway.resumed().await;
        assert_eq!(after, 5);
        line.says(6, "here it is").await;
        std::mem::forget(line);
    });
    assert_eq!(texts(&heard), ["here it is"]);
    assert!(!heard[0].is_after_gap);
}

#[tokio::test]
async fn no_session_is_begun_without_a_budget() {
    let stage = stage().await;
    stage.purse.0.store(0, Ordering::SeqCst);
    let (heard, ()) = join!(stage.listen(None), async {
        let mut line = stage.gateway.line().await;
        line.say(json!({ "op": 10, "d": { "heartbeat_interval": 60_000 } })).await;
        assert_eq!(line.ended().await, Some(4000), "nothing was said");
    });
    assert!(matches!(heard, Err(ListenError::Barred { .. })));
    assert!(stage.gateway.is_quiet().await);
}

#[tokio::test]
async fn whoever_leaves_says_so_and_the_session_can_go_on() {
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(5));
    let (_, mut line) = join!(stage.heard(&mut cursor), async {
        let (mut line, _) = stage.gateway.resumed().await;
        line.says(6, "hi").await;
        line
    });
    let ((), code) = join!(stage.discord.leave(&stage.bot), line.ended());
    assert_eq!(code, Some(4000));
    stage.discord.leave(&bot()).await;
}

#[tokio::test]
async fn nothing_unreadable_stops_the_socket() {
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(5));
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        let (mut line, _) = stage.gateway.resumed().await;
        for odd in [json!([]), json!("x"), json!({ "op": 77 }), json!({ "op": 0, "t": "X" })] {
            line.say(odd).await;
        }
        line.tell("SOMETHING_NEW", 6, Value::Null).await;
        line.tell("GUILD_CREATE", 7, json!("odd")).await;
        line.says(8, "on").await;
        std::mem::forget(line);
    });
    assert_eq!(texts(&heard), ["on"]);
}
