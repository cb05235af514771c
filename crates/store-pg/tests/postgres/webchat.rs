//! Tests of page chats that need ten thousand lines.

use nightdesk_register::IdentityStore as _;
use nightdesk_testkit::first_data_key;
use nightdesk_types::limits::CHAT_LINES_KEPT_MAX;
use nightdesk_types::{BotId, TenantId, TenantScope, Timestamp};
use nightdesk_webchat::store::{AgentMessage, LineChange, Store, VisitorChat};
use uuid::Uuid;

use crate::server::run;
use crate::suites::postgres;

#[tokio::test]
async fn a_chat_keeps_so_many_lines() {
    let postgres = postgres().await;
    let key = first_data_key(scope().tenant());
    postgres.store.create_tenant(scope(), "acme", &key).await.expect("enter a tenant");
    let chat = VisitorChat {
        scope: scope(),
        bot: BotId::from_uuid(Uuid::from_u128(2)),
        visitor: "ann".to_owned(),
    };
    let answer = AgentMessage { at: Timestamp::UNIX_EPOCH, text: "one".to_owned(), prompt: None };
    let mut names = Vec::new();
    for _ in 0..3 {
        names.push(postgres.store.write_agent_message(&chat, &answer).await.expect("write"));
    }
    let skipped = format!("update webchat_chats set last_seq = {}", CHAT_LINES_KEPT_MAX - 1);
    run(&mut postgres.database.admin().await, &skipped).await;
    let lines = async || postgres.store.latest_lines(&chat, 10).await.expect("read").lines.len();

    let edit = LineChange::Edit("two".to_owned());
    assert!(postgres.store.change_line(&chat, names[2], &edit).await.expect("edit"));
    assert_eq!(lines().await, 3, "the oldest is the last that is kept");
    assert!(postgres.store.change_line(&chat, names[2], &edit).await.expect("edit"));
    assert_eq!(lines().await, 2, "one more, and it is let go");
}

const fn scope() -> TenantScope {
    TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)))
}
