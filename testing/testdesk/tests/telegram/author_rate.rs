//! Tests that an author's rate limit loses none of the messages that the owner of a bot reads.

use super::*;

/// The photos of an album, which Telegram reports one by one.
const PHOTOS: usize = 10;

#[tokio::test]
async fn an_album_arrives_whole_on_a_desk_of_three_nodes() {
    let stage = stage(json!({})).await;
    stage.desk.desk.stops.limits.set_node_count(3);
    stage.says(0..PHOTOS);
    stage.desk.listen();
    stage.has(PHOTOS).await;

    assert_eq!(stage.given(PHOTOS).await, (0..PHOTOS).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_store_that_fails_for_a_while_loses_nothing_of_an_author_within_the_limit() {
    let stage = stage(json!({})).await;
    stage.desk.store.fail_on_chat(Some(&ANN.to_string()));
    stage.says(0..PHOTOS);
    stage.desk.listen();
    // Each attempt is a batch, and then its first event alone. Three attempts are more messages than the limit.
    until("it is tried three times", async || stage.desk.store.accepts_begun() > 5).await;

    assert_eq!(stage.fake.pending(TOKEN), PHOTOS, "Telegram keeps them");
    stage.desk.store.fail_on_chat(None);
    stage.has(PHOTOS).await;
    assert_eq!(stage.given(PHOTOS).await, (0..PHOTOS).collect::<Vec<_>>());
}
