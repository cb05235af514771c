//! Tests that a bot's reception is judged by its received updates, and that its operator gets notices.

use nightdesk_register::{BotReception, ReceptionStore};
use nightdesk_types::limits::{ASKED_FOR_KEPT_FOR, DEAF_AFTER, POSTS_KEPT_FOR};

use super::*;

impl Stage {
    async fn hearing(&self) -> Option<BotReception> {
        let hearings = self.desk.store.receptions(self.household.scope).await;
        hearings.expect("read how bots hear").pop()
    }

    /// Returns the operator's notices, newest first.
    async fn told(&self) -> Vec<String> {
        self.desk.notices(&self.household).await
    }

    async fn is_silent(&self) -> bool {
        self.hearing().await.is_some_and(|hearing| hearing.outage.is_some())
    }
}

#[tokio::test]
async fn a_bot_that_is_asked_for_in_vain_is_deaf_after_a_while_and_told_of_once() {
    let stage = stage(json!({})).await;
    stage.fake.misbehave(Fault::refuse("getUpdates", usize::MAX, 409, "Conflict: …"));
    stage.desk.listen();
    until("nothing is heard", async || stage.is_silent().await).await;
    assert_eq!(stage.told().await, [""; 0], "not for long enough");

    stage.desk.store.clock().let_pass(DEAF_AFTER);
    until("it is told", async || !stage.told().await.is_empty()).await;
    let told = stage.told().await;
    assert!(told[0].contains("receives no events: the platform sends"), "{told:?}");
    stage.fake.behave();
    stage.says([1]);
    stage.has(1).await;
    until("it hears again", async || !stage.is_silent().await).await;
    let hearing = stage.hearing().await.expect("it was listened for");
    assert!(hearing.heard_at.is_some() && hearing.said_at.is_some(), "{hearing:?}");
    assert_eq!(stage.told().await.len(), 1);
}

#[tokio::test]
async fn posts_that_nobody_takes_are_told_of() {
    let stage = stage(json!({ "updates": "webhook" })).await;
    let store = &stage.desk.store;
    stage.post_to("http://127.0.0.1:9/nobody").await;
    stage.says([1, 2]);
    let (scope, bot) = (stage.household.scope, stage.bot);
    store.record_outage(scope, bot, "as before", DEAF_AFTER).await.expect("note it");
    store.clock().let_pass(DEAF_AFTER);

    stage.desk.listen();
    until("it is told", async || !stage.told().await.is_empty()).await;
    let told = stage.told().await;
    assert!(told[0].contains("fail, and 2 events wait"), "{told:?}");
}

// P6
#[tokio::test]
async fn what_may_be_lost_after_a_pause_is_told() {
    for (settings, kept) in [
        (json!({ "updates": "webhook" }), POSTS_KEPT_FOR),
        (json!({ "updates": "poll" }), ASKED_FOR_KEPT_FOR),
    ] {
        let stage = stage(settings.clone()).await;
        let store = &stage.desk.store;
        if settings["updates"] == "webhook" {
            stage.post_to(&stage.hook()).await;
        }
        store.record_reception(stage.household.scope, stage.bot, kept, "").await.expect("note it");
        store.clock().let_pass(kept);
        stage.says([1]);
        stage.desk.listen();

        until("it is told", async || !stage.told().await.is_empty()).await;
        let told = stage.told().await;
        assert!(told[0].contains("receives events again, but some may be lost"), "{told:?}");
        stage.has(1).await;
    }
}
