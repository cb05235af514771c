//! Creates a tenant whose agents may write through its bot.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use nightdesk_register::{AgentOnBot, IdentityStore, NewBot, Reaching};
use nightdesk_types::{AgentId, BotId, GrantTarget, Principal, TenantId, TenantScope};
use nightdesk_vault::WrappedKey;
use serde_json::json;
use uuid::Uuid;

use crate::Memory;

/// A tenant with two agents and a bot.
#[derive(Clone, Copy, Debug)]
pub struct Writers {
    /// The tenant.
    pub scope: TenantScope,
    /// The bot.
    pub bot: BotId,
    /// The agents. The first may write.
    pub agents: [AgentId; 2],
}

impl Writers {
    /// Creates the tenant, the agents and the bot, and lets the first agent write to these chats.
    ///
    /// # Panics
    ///
    /// Panics if they exist already.
    pub async fn of(store: &Memory, chats: &[&str]) -> Self {
        let tenant = TenantId::from_uuid(Uuid::from_u128(7));
        let scope = TenantScope::for_tenant(tenant);
        store.create_tenant(scope, "t", &WrappedKey(vec![1])).await.expect("enter a tenant");
        let bot = store.create_bot(scope, &new_bot()).await.expect("enter a bot");
        let ann = store.create_agent(scope, "ann").await.expect("enter an agent");
        let bob = store.create_agent(scope, "bob").await.expect("enter an agent");
        for chat in chats {
            let (on, granted) =
                (AgentOnBot { scope, agent: ann, bot }, GrantTarget::for_chat(None, chat));
            let granted = store.grant(on, &granted, Some(Principal::Any)).await;
            granted.expect("grant a chat");
        }
        Self { scope, bot, agents: [ann, bob] }
    }
}

fn new_bot() -> NewBot {
    NewBot {
        id: Uuid::from_u128(9),
        platform: "discord".to_owned(),
        adapter: "scripted".to_owned(),
        handle: "desk-bot".to_owned(),
        path: "desk-bot".to_owned(),
        settings: json!({}),
        sealed: None,
    }
}
