//! Our own page, as a visitor sees it.

#[path = "chat/page.rs"]
mod page;
#[path = "chat/messages.rs"]
mod messages;
#[path = "chat/events.rs"]
mod events;
#[path = "chat/limits.rs"]
mod limits;

use nightdesk_testdesk::{Browser, Household, PageAccess, TestDesk, TestGateway};
use serde_json::{Value, json};

/// A desk, an agent and a page.
struct Scene {
    desk: TestDesk,
    ann: Household,
    path: String,
}

impl Scene {
    async fn with(access: PageAccess) -> Self {
        let desk = TestDesk::open().await;
        let ann = desk.household("ann", "gw-1").await;
        let (_, path) = desk.page(&ann, access).await;
        Self { desk, ann, path }
    }

    async fn open() -> Self {
        Self::with(PageAccess::Anyone).await
    }

    async fn browser(&self) -> Browser {
        Browser::open(self.desk.address(), &self.path).await
    }

    /// The agent, awake.
    async fn agent(&self) -> TestGateway {
        let mut gateway = self.desk.dial(&self.ann).await;
        gateway.hello("webchat").await;
        gateway.hear_frame("descriptor").await;
        gateway
    }

    /// The number of entries in the agent's inbox.
    async fn entries(&self) -> i64 {
        let own = [(self.ann.scope, self.ann.agent)];
        self.desk.desk.stops.inbox.store().read_heads(&own).await.expect("heads")[0].get()
    }
}

/// Has an agent do something, and returns the result.
async fn does(gateway: &mut TestGateway, request: &str, action: &Value) -> Value {
    gateway.say(&json!({"type": "outbound", "requestId": request, "action": action})).await;
    gateway.hear_frame("outbound_result").await["result"].clone()
}

/// Has an agent say something in a chat.
async fn answers(gateway: &mut TestGateway, chat: &str, text: &str) -> String {
    let action = json!({"op": "send", "chat_id": chat, "content": text});
    let told = does(gateway, text, &action).await;
    assert_eq!(told["success"], true, "{told}");
    told["message_id"].as_str().expect("a message id").to_owned()
}
