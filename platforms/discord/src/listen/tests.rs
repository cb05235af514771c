//! Tests of conversations with a test server for the gateway.

use std::sync::atomic::{AtomicU32, Ordering};

use nightdesk_port::{ReceiveError, SessionBudget};
use nightdesk_testkit::FakeClock;
use nightdesk_types::StoreError;
use nightdesk_types::event::{ChatType, Content};
use serde_json::{Value, json};
use tokio::join;

use super::cursor::SessionCursor;
use super::*;
use crate::DiscordUrls;
use crate::tests::gateway::Gateway;
use crate::tests::stub::Stub;
use crate::tests::{TOKEN, bot};

mod ends;
mod places;

/// A budget of a fixed number of new sessions.
pub(super) struct Purse(AtomicU32);

#[async_trait]
impl SessionBudget for Purse {
    async fn spend(&self, _bot: &Bot) -> Result<bool, StoreError> {
        let less = |left: u32| left.checked_sub(1);
        Ok(self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok())
    }
}

pub(super) struct Stage {
    gateway: Gateway,
    stub: Stub,
    clock: FakeClock,
    discord: Discord,
    purse: Arc<Purse>,
    bot: Bot,
}

pub(super) async fn stage() -> Stage {
    let (gateway, stub) = (Gateway::open().await, Stub::open().await);
    let (clock, purse) = (FakeClock::default(), Arc::new(Purse(AtomicU32::new(10))));
    let discord = node(&gateway, &stub, &clock, &purse);
    Stage { gateway, stub, clock, discord, purse, bot: bot() }
}

/// Creates one of several nodes.
fn node(gateway: &Gateway, stub: &Stub, clock: &FakeClock, purse: &Arc<Purse>) -> Discord {
    let at = DiscordUrls { api: &stub.url, gateway: &gateway.url, cdn: &stub.url };
    let budget: Arc<dyn SessionBudget> = Arc::<Purse>::clone(purse);
    Discord::open(at, Arc::new(clock.clone()), budget).unwrap()
}

impl Stage {
    fn cursor(&self, seq: u64) -> String {
        let cursor = SessionCursor { session: "s1".to_owned(), url: self.gateway.url.clone(), seq };
        SocketCursors(vec![Some(cursor)]).to_text()
    }

    async fn listen(&self, cursor: Option<&str>) -> Result<Vec<PlatformEvent>, ListenError> {
        self.discord.listen(&self.bot, cursor).await
    }

    /// Listens until a message arrives.
    async fn heard(&self, cursor: &mut Option<String>) -> Vec<PlatformEvent> {
        loop {
            let heard = self.listen(cursor.as_deref()).await.unwrap();
            if heard.iter().any(|one| !matches!(one.event, Ok(None))) {
                return heard;
            }
            *cursor = heard.last().map(|one| one.cursor.clone()).or(cursor.take());
        }
    }
}

pub(super) fn texts(heard: &[PlatformEvent]) -> Vec<String> {
    let text = |heard: &PlatformEvent| {
        let Content::Message(message) = &heard.event.as_ref().ok()?.as_ref()?.content else {
            panic!()
        };
        Some(message.text.clone())
    };
    heard.iter().filter_map(text).collect()
}

#[tokio::test]
async fn a_session_is_begun_and_another_node_goes_on_with_it() {
    let stage = stage().await;
    let mut cursor = None;
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        let (mut line, introduced) = stage.gateway.greeted().await;
        assert_eq!(introduced["op"], 2);
        assert_eq!(introduced["d"]["token"], TOKEN);
        assert_eq!(introduced["d"]["intents"], 1 + 2 + 512 + 4096 + 32768);
        line.ready(&stage.gateway.url).await;
        line.says(2, "one").await;
        std::mem::forget(line);
    });
    assert_eq!(texts(&heard), ["one"]);
    assert!(!heard[0].is_after_gap);

    let other = node(&stage.gateway, &stage.stub, &stage.clock, &stage.purse);
    let cursor = heard.last().unwrap().cursor.clone();
    let (heard, after) = join!(other.listen(&stage.bot, Some(&cursor)), async {
        let (mut line, after) = stage.gateway.resumed().await;
        line.says(3, "two").await;
        std::mem::forget(line);
        after
    });
    assert_eq!(after, 2);
    assert_eq!(texts(&heard.unwrap()), ["two"]);
    assert_eq!(stage.purse.0.load(Ordering::SeqCst), 9, "one session was begun");
}

// T18
#[tokio::test]
async fn compressed_frames_are_not_asked_for_and_not_unpacked() {
    let stage = stage().await;
    let bomb: Vec<u8> =
        serde_json::from_str(include_str!("../../../../testing/gzip-bomb.json")).unwrap();
    let mut cursor = None;
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        let (mut line, introduced) = stage.gateway.greeted().await;
        assert_ne!(introduced["d"]["compress"], true, "{introduced}");
        line.say_bytes(bomb.clone()).await;
        line.ready(&stage.gateway.url).await;
        line.say_bytes(bomb).await;
        line.says(2, "one").await;
        std::mem::forget(line);
    });

    assert_eq!(texts(&heard), ["one"]);
}

#[tokio::test]
async fn what_was_not_stored_is_told_again_and_confirmed_to_nobody() {
    let stage = stage().await;
    let from = stage.cursor(1);
    let (heard, mut line) = join!(stage.listen(Some(&from)), async {
        let (mut line, after) = stage.gateway.resumed().await;
        assert_eq!(after, 1);
        line.says(2, "one").await;
        line.says(3, "two").await;
        line
    });
    drop(heard);
    let again = stage.listen(Some(&from)).await.unwrap();
    assert_eq!(texts(&again)[0], "one");
    line.say(json!({ "op": 1 })).await;
    assert_eq!(line.hear().await, json!({ "op": 1, "d": 1 }), "nothing is stored yet");

    let first = again[0].cursor.clone();
    let rest = stage.listen(Some(&first)).await.unwrap();
    assert_eq!(texts(&rest), ["two"]);
    line.say(json!({ "op": 1 })).await;
    assert_eq!(line.hear().await["d"], 2);

    // The same holds after a resume over another socket.
    line.say(json!({ "op": 7 })).await;
    let (_line, after) = stage.gateway.resumed().await;
    assert_eq!(after, 2);
}

#[tokio::test]
async fn a_repeat_is_told_once_and_nothing_is_lost_between_sockets() {
    let stage = stage().await;
    let from = stage.cursor(1);
    let mut cursor = Some(from.clone());
    let (heard, line) = join!(stage.heard(&mut cursor), async {
        let (mut line, _) = stage.gateway.resumed().await;
        line.says(2, "one").await;
        line
    });
    line.close(4000).await;
    let (mut line, after) = stage.gateway.resumed().await;
    assert_eq!(after, 1);
    for (seq, text) in [(2, "one"), (3, "two")] {
        line.says(seq, text).await;
    }
    let mut cursor = heard.last().map(|heard| heard.cursor.clone());
    assert_eq!(texts(&stage.heard(&mut cursor).await), ["two"]);
}

#[tokio::test]
async fn a_desk_that_is_slow_is_not_run_over() {
    const ALL: u64 = 400;
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(0));
    let (first, mut line) = join!(stage.heard(&mut cursor), async {
        let (mut line, _) = stage.gateway.resumed().await;
        for seq in 1..=ALL {
            line.says(seq, &seq.to_string()).await;
        }
        line
    });
    let mut all = texts(&first);
    let mut cursor = first.last().map(|heard| heard.cursor.clone());
    while all.len() < usize::try_from(ALL).unwrap() {
        let heard = stage.heard(&mut cursor).await;
        assert!(heard.len() <= 50);
        all.extend(texts(&heard));
        cursor = heard.last().map(|heard| heard.cursor.clone());
    }
    assert!(
        all.iter().map(String::as_str).eq((1..=ALL).map(|seq| seq.to_string()).collect::<Vec<_>>())
    );
    line.say(json!({ "op": 1 })).await;
    assert_eq!(line.hear().await["op"], 1, "the socket lives");
}

#[tokio::test]
async fn what_waits_for_a_slow_desk_outlives_its_socket() {
    // More events than are read ahead, so that one waits when the socket ends.
    const ALL: u64 = 200;
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(0));
    let (first, line) = join!(stage.heard(&mut cursor), async {
        let mut line = stage.gateway.line().await;
        line.say(json!({ "op": 10, "d": { "heartbeat_interval": 60 } })).await;
        for seq in 1..=ALL {
            line.says(seq, &seq.to_string()).await;
        }
        line
    });
    // The socket is not read any more, but a heartbeat detects its end.
    drop(line);
    let mut all = texts(&first);
    let mut cursor = first.last().map(|heard| heard.cursor.clone());
    let rest = async {
        while all.len() < usize::try_from(ALL).unwrap() {
            let heard = stage.heard(&mut cursor).await;
            all.extend(texts(&heard));
            cursor = heard.last().map(|heard| heard.cursor.clone());
        }
    };
    let replay = async {
        let (mut line, after) = stage.gateway.resumed().await;
        for seq in after + 1..=ALL {
            line.says(seq, &seq.to_string()).await;
        }
        std::mem::forget(line);
    };
    tokio::select! {
        () = rest => {}
        () = async { replay.await; std::future::pending::<()>().await } => {}
    }
    assert_eq!(all, (1..=ALL).map(|seq| seq.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_cursor_from_elsewhere_begins_another_socket() {
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(1));
    let (_, mut line) = join!(stage.heard(&mut cursor), async {
        let (mut line, _) = stage.gateway.resumed().await;
        line.says(2, "one").await;
        line
    });
    // Another node has listened in the meantime.
    let mut cursor = Some(stage.cursor(70));
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        assert_eq!(line.ended().await, Some(4000));
        let (mut line, after) = stage.gateway.resumed().await;
        assert_eq!(after, 70);
        line.says(71, "later").await;
        std::mem::forget(line);
    });
    assert_eq!(texts(&heard), ["later"]);
}

#[tokio::test]
async fn what_cannot_be_read_is_kept_without_its_token() {
    let stage = stage().await;
    let mut cursor = Some(stage.cursor(1));
    let (heard, ()) = join!(stage.heard(&mut cursor), async {
        let (mut line, _) = stage.gateway.resumed().await;
        let odd = json!({ "id": "5", "type": 3, "token": "canary", "data": {} });
        line.tell("INTERACTION_CREATE", 2, odd).await;
        std::mem::forget(line);
    });
    assert_eq!(heard[0].event, Err(ReceiveError::Unreadable));
    let body = String::from_utf8(heard[0].body.clone()).unwrap();
    assert!(body.contains("\"type\":3") && !body.contains("canary"), "{body}");
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_listen_for_a_while_has_left() {
    let (ear, ends) = SocketListener::open(&bot(), None);
    assert!(!ends.shared.is_left());
    assert_eq!(ear.wait_for_event().await, Ok(()), "it waits a while and hears nothing");
    assert!(!ends.shared.is_left(), "somebody listened just now");
    tokio::time::advance(Duration::from_secs(16)).await;
    assert!(ends.shared.is_left());
}
