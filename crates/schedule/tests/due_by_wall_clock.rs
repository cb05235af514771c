//! X12: the node's clock decides when a job is due.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "planted/stage.rs"]
mod stage;

use nightdesk_types::planted::plant;

#[tokio::test(start_paused = true)]
async fn the_bug_can_be_seen() {
    let (_, first) = stage::told().await;
    assert_eq!(first, Some(10), "by the store's clock");

    assert!(plant("X12"));
    let (_, first) = stage::told().await;
    assert_eq!(first, Some(0), "the node thinks that it is long past");
}
