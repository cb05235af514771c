//! A database that lost commits: the node stores again what it stored lately.

use nightdesk_desk::StoredAgain;
use nightdesk_testdesk::TestDesk;
use nightdesk_types::{Incarnation, Seq};

const NONE: StoredAgain = StoredAgain { stored: 0, kept: 0, refused: 0, dropped: 0 };

#[tokio::test]
async fn events_that_the_database_lost_are_stored_again_in_order() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    for key in ["k1", "k2", "k3"] {
        assert_eq!(desk.says(&ann, "ann", key).await, 200);
    }
    let history = desk.store.lose_entries(ann.scope, ann.agent, Seq::new(1));
    assert_eq!(desk.head_of(&ann).await, Seq::new(1));

    let all = StoredAgain { stored: 3, ..NONE };
    assert_eq!(store_again(&desk, history).await, all, "no key is left");
    assert_eq!(desk.head_of(&ann).await, Seq::new(4));

    let all = StoredAgain { kept: 3, ..NONE };
    assert_eq!(store_again(&desk, history).await, all, "each is there once");
    assert_eq!(desk.head_of(&ann).await, Seq::new(4));
}

/// A slow commit may outlive its request. Then the platform repeats the event, and only the duplicate is confirmed.
#[tokio::test]
async fn an_event_that_was_confirmed_as_a_duplicate_is_stored_again_too() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    for _ in 0..2 {
        assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    }
    let history = desk.store.lose_entries(ann.scope, ann.agent, Seq::new(0));

    assert_eq!(store_again(&desk, history).await, StoredAgain { stored: 1, kept: 1, ..NONE });
}

#[tokio::test]
async fn only_events_of_earlier_histories_are_stored_again() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let history = desk.store.lose_entries(ann.scope, ann.agent, Seq::new(0));
    desk.desk.inbound.recall_events(history);
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    assert_eq!(stored_again(&desk).await, StoredAgain { stored: 1, ..NONE });

    // The node hears of another history before a commit of this one returns.
    desk.desk.inbound.recall_events(history.next());
    assert_eq!(stored_again(&desk).await, StoredAgain { kept: 2, ..NONE });
    assert_eq!(desk.says(&ann, "ann", "k3").await, 200);
    assert_eq!(stored_again(&desk).await, StoredAgain { kept: 1, ..NONE });
}

/// Tells the node of another history, and stores its events again.
async fn store_again(desk: &TestDesk, history: Incarnation) -> StoredAgain {
    desk.desk.inbound.recall_events(history);
    stored_again(desk).await
}

async fn stored_again(desk: &TestDesk) -> StoredAgain {
    let mut counts = NONE;
    desk.desk.inbound.store_again(&mut counts).await.expect("the store is there");
    counts
}
