//! Households of a test desk: an agent in its own tenant, its bot, and messages to it.

use nightdesk_register::{AgentOnBot, BotDraft};
use nightdesk_types::{Actor, AgentId, BotId, GatewayId, GrantTarget, Principal, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Value, json};

use crate::call::post;
use crate::{TestDesk, TestGateway};

/// The signing key of every bot of a test desk.
const BOT_KEY: &str = "the key of a test bot";

/// An agent in its own tenant, with a bot, an author bound to it, and a gateway.
#[derive(Clone, Debug)]
pub struct Household {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The bot.
    pub bot: BotId,
    /// The path of the bot's webhook.
    pub path: String,
    /// The gateway.
    pub gateway: GatewayId,
    /// Name of the gateway.
    pub name: String,
    /// Its secret.
    pub secret: Key,
}

/// Visitors that may write on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAccess {
    /// Any visitor with its address.
    Anyone,
    /// Visitors bound to the agent.
    Linked,
}

impl TestDesk {
    /// Creates a household whose author and bot have its name. Its bot reaches no platform.
    pub async fn household(&self, name: &str, gateway: &str) -> Household {
        let settings = json!({ "deliver_url": "http://127.0.0.1:9/nobody" });
        self.household_with(name, gateway, settings).await
    }

    /// Creates a household whose bot has these settings.
    pub async fn household_with(&self, name: &str, gateway: &str, settings: Value) -> Household {
        let tenant =
            self.register.create_tenant(Actor::Operator, name).await.expect("enter a tenant");
        let scope = TenantScope::for_tenant(tenant);
        let agent = self.register.store().create_agent(scope, name).await.expect("enter an agent");
        let draft = BotDraft {
            platform: "discord".to_owned(),
            adapter: "scripted".to_owned(),
            handle: format!("bot-{name}"),
            settings,
            key: Some(Key::new(BOT_KEY.to_owned())),
        };
        let (bot, path) = self.register.create_bot(scope, draft).await.expect("enter a bot");
        self.register
            .store()
            .bind(AgentOnBot { scope, agent, bot }, name)
            .await
            .expect("bind the author");
        let (id, secret) =
            self.register.create_gateway(scope, agent, gateway).await.expect("enter a gateway");
        let name = gateway.to_owned();
        Household { scope, agent, bot, path, gateway: id, name, secret }
    }

    /// Creates another bot of a household, with a bound author. Returns the path of its webhook.
    pub async fn bot(&self, household: &Household, bot: BotDraft, author: &str) -> (BotId, String) {
        let Household { scope, agent, .. } = *household;
        let (bot, path) = self.register.create_bot(scope, bot).await.expect("enter a bot");
        let bound = self.register.store().bind(AgentOnBot { scope, agent, bot }, author).await;
        bound.expect("bind the author");
        (bot, path)
    }

    /// Grants a chat of a bot to an agent, for any author.
    pub async fn grant(&self, scope: TenantScope, agent: AgentId, bot: BotId, chat: &str) {
        let (on, granted) = (AgentOnBot { scope, agent, bot }, GrantTarget::for_chat(None, chat));
        let granted = self.register.store().grant(on, &granted, Some(Principal::Any)).await;
        granted.expect("grant a chat");
    }

    /// Posts a message of that author to a household's bot. Returns the status.
    pub async fn says(&self, household: &Household, author: &str, key: &str) -> u16 {
        self.says_in("c1", household, author, key).await
    }

    /// Posts a message in a chat.
    pub async fn says_in(&self, chat: &str, household: &Household, author: &str, key: &str) -> u16 {
        self.said(household, key, &json!({ "chat_id": chat, "user_id": author })).await
    }

    /// Posts a message in a chat with other readers.
    pub async fn says_in_room(&self, chat: &str, to: &Household, author: &str, key: &str) -> u16 {
        let source = json!({
            "chat_id": chat, "user_id": author, "scope_id": "guild", "chat_type": "channel"
        });
        self.said(to, key, &source).await
    }

    async fn said(&self, household: &Household, key: &str, source: &Value) -> u16 {
        let event = json!({ "id": key, "event": { "text": key, "source": source } });
        self.hook(household, &event).await
    }

    /// Posts an event as the platform of a household's bot. Returns the HTTP status.
    pub async fn hook(&self, household: &Household, event: &Value) -> u16 {
        let body = event.to_string();
        let signature = nightdesk_testkit::scripted::sign(BOT_KEY, body.as_bytes());
        let headers = [(nightdesk_testkit::scripted::SIGNATURE_HEADER, signature.as_str())];
        let path = format!("/hooks/{}", household.path);
        post(self.address, &path, &headers, body.as_bytes()).await.status
    }

    /// Creates a bot with a page, which leads to a household's agent. Returns the page's path.
    pub async fn page(&self, household: &Household, access: PageAccess) -> (BotId, String) {
        let draft = BotDraft {
            platform: nightdesk_webchat::NAME.to_owned(),
            adapter: nightdesk_webchat::NAME.to_owned(),
            handle: format!("page-{}", household.name),
            settings: json!({ "title": "Owl", "greeting": "Hello there" }),
            key: Some(Key::new(BOT_KEY.to_owned())),
        };
        let (bot, path) =
            self.register.create_bot(household.scope, draft).await.expect("enter a bot");
        if access == PageAccess::Anyone {
            self.grant(household.scope, household.agent, bot, "*").await;
        }
        (bot, path)
    }

    /// Dials in with a household's secret, and greets as a client that needs no time to boot.
    pub async fn dial(&self, household: &Household) -> TestGateway {
        TestGateway::dial(self.address, &household.name, &household.secret)
            .await
            .expect("a valid token is let in")
    }
}
