//! Tests the visible state of a sleeping agent.

use super::*;

impl Stage {
    fn typed(&self) -> usize {
        self.fake.calls().iter().filter(|call| call.method == "sendChatAction").count()
    }
}

#[tokio::test]
async fn whoever_writes_to_a_sleeping_agent_sees_typing_until_it_is_up() {
    let stage = stage(json!({})).await;
    stage.desk.listen();
    stage.says([1]);
    until("it is being woken", async || stage.typed() == 1).await;
    until("and still is when that has faded", async || stage.typed() == 2).await;

    let mut gateway = stage.desk.dial(&stage.household).await;
    gateway.hello("telegram").await;
    gateway.hear_frame("descriptor").await;
    gateway.hear_frame("inbound").await;
    stage.desk.settled().await;
    assert_eq!(stage.typed(), 2, "it is up");
}
