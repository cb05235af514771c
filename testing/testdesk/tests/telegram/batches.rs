//! Tests that updates of one batch are stored together, in order, and confirmed when they are stored.

use nightdesk_register::AgentOnBot;
use nightdesk_types::limits::{GATHER_MAX, SOURCE_TOGETHER_MAX};

use super::*;

/// Number of updates in one response: more than one batch.
const TOLD: usize = 100;

/// So many people that none of them exceeds the rate limit.
const PEOPLE: usize = 25;

/// Returns the author of a message, in their own chat.
fn who(number: usize) -> i64 {
    ANN + i64::try_from(number % PEOPLE).expect("a small number")
}

/// Sets up a stage with all messages, from the people in turn. Every fourth author reaches no agent.
async fn told() -> Stage {
    let stage = stage(json!({})).await;
    let Household { scope, agent, .. } = stage.household;
    for number in (0..PEOPLE).filter(|number| !is_refused(*number)) {
        let on = AgentOnBot { scope, agent, bot: stage.bot };
        let author = who(number).to_string();
        if number > 0 {
            stage.desk.register.store().bind(on, &author).await.expect("bind an author");
        }
    }
    for number in 0..TOLD {
        stage.fake.says(TOKEN, who(number), &number.to_string());
    }
    stage
}

const fn is_refused(number: usize) -> bool {
    number % PEOPLE % 4 == 3
}

/// Returns how many of the first messages are for the agent.
fn kept(numbers: usize) -> usize {
    (0..numbers).filter(|number| !is_refused(*number)).count()
}

impl Stage {
    /// Returns the number of stored or handled updates, from the store's cursor.
    async fn cursor(&self) -> usize {
        let store = self.desk.desk.stops.inbox.store();
        let taken = store.take_source(self.household.scope, self.bot, "updates").await;
        let cursor = taken.expect("take the source").1.expect("something was read");
        let next: usize =
            cursor.split('@').next().and_then(|next| next.parse().ok()).expect(&cursor);
        next - 1
    }

    /// Returns the entries of the agent, in order.
    pub(super) async fn given(&self, count: usize) -> Vec<usize> {
        let mut gateway = self.desk.dial(&self.household).await;
        gateway.hello("telegram").await;
        gateway.hear_frame("descriptor").await;
        let mut given = Vec::new();
        while given.len() < count {
            let entry = gateway.hear_frame("inbound").await;
            gateway.ack(&entry["bufferId"]).await;
            let text = entry["event"]["text"].as_str().expect("a text").parse();
            given.push(text.expect("a number"));
        }
        given
    }
}

fn all() -> Vec<usize> {
    (0..TOLD).filter(|number| !is_refused(*number)).collect()
}

#[tokio::test]
async fn what_is_told_together_is_gathered_and_keeps_its_order() {
    let stage = told().await;
    stage.desk.listen();
    stage.has(kept(TOLD)).await;

    let statements = stage.desk.store.accepts_begun();
    assert!(statements <= 2 + kept(TOLD).div_ceil(GATHER_MAX), "it took {statements}");
    assert_eq!(stage.cursor().await, TOLD);
    assert_eq!(stage.given(kept(TOLD)).await, all());
}

#[tokio::test]
async fn a_store_that_fails_in_the_middle_loses_nothing_and_the_cursor_stays_before_it() {
    let stage = told().await;
    let fails_at = 10;
    stage.desk.store.fail_on_chat(Some(&who(fails_at).to_string()));
    stage.desk.listen();
    // Together, then one by one up to it, and then again.
    let tries = 2 + kept(fails_at);
    until("it is tried twice", async || stage.desk.store.accepts_begun() > tries).await;

    assert_eq!(stage.entries().await, kept(fails_at), "nothing overtakes it");
    let cursor = stage.cursor().await;
    assert!(cursor <= fails_at && kept(cursor) == kept(fails_at), "it stands at {cursor}");
    assert_eq!(stage.fake.pending(TOKEN), TOLD - cursor, "Telegram keeps the rest");
    stage.desk.store.fail_on_chat(None);
    stage.has(kept(TOLD)).await;
    assert_eq!(stage.given(kept(TOLD)).await, all());
}

#[tokio::test]
async fn a_node_that_stops_in_the_middle_leaves_the_cursor_after_what_it_stored() {
    let stage = told().await;
    let held = stage.desk.store.hold_accepts().await;
    stage.desk.listen();
    until("it is being stored", async || stage.desk.store.accepts_begun() > 0).await;

    let release = async {
        tokio::task::yield_now().await;
        drop(held);
    };
    tokio::join!(stage.desk.stop(), release);
    assert_eq!(stage.cursor().await, SOURCE_TOGETHER_MAX);
    assert_eq!(stage.entries().await, kept(SOURCE_TOGETHER_MAX));
}
