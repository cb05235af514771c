//! Tests the visible state of a sleeping agent.

use super::*;

#[tokio::test]
async fn whoever_writes_to_a_sleeping_agent_sees_typing() {
    let stage = stage().await;
    stage.arrive().await;
    stage.fake.say(ANN, GENERAL, &format!("<@{BOT}> wake up"));
    let typed = |fake: &FakeDiscord| !fake.calls_of("POST /channels/{}/typing").is_empty();
    assert!(stage.fake.until(PATIENCE, typed).await, "it is being woken");
}
