//! Builds values with good defaults, so that a test names only its subject.
//!
//! There is no back door: the real intake makes an event `Verified`, with the scripted platform's signature, and the
//! real gate makes it `Admitted`.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use nightdesk_gate::bot_reach::AgentTerms;
use nightdesk_gate::{AdmissionRefusal, AdmitError, AdmittedEvent, Gate, ReachChange, Recipient};
use nightdesk_intake::{Intake, VerifiedEvent, verify};
use nightdesk_port::{Bot, SignedRequest};
use nightdesk_types::event::Source;
use nightdesk_types::send::Op;
use nightdesk_types::{BotId, GrantTarget, Principal, Relevance, Send, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Map, Value, json};

use crate::scripted::{SIGNATURE_HEADER, Scripted, sign};

/// The key of every bot built here.
const BOT_KEY: &str = "the key of a scripted bot";

/// Opened once, because its client reads the machine's certificates.
static PLATFORM: LazyLock<Scripted> =
    LazyLock::new(|| Scripted::new().expect("the scripted platform opens its client"));

/// Returns a bot of the scripted platform that claims to be Discord.
pub fn bot(id: BotId, operator: TenantScope) -> Bot {
    Bot {
        id,
        operator,
        platform: "discord".to_owned(),
        handle: format!("bot-{id}"),
        settings: json!({}),
        key: Some(Key::new(BOT_KEY.to_owned())),
        former_keys: Vec::new(),
    }
}

/// Returns a message `hello` to a chat.
pub fn send_to(chat: &str) -> Send {
    let op = Op::Send { content: "hello".to_owned(), reply_to: None };
    Send { chat_id: chat.to_owned(), op, metadata: Map::new() }
}

/// Returns an event: `u1` writes "hi" in the direct chat `c1`, under the key `k1`.
pub fn event() -> EventBuilder {
    let source =
        Source { chat_id: "c1".to_owned(), user_id: Some("u1".to_owned()), ..Source::default() };
    EventBuilder { key: "k1".to_owned(), text: "hi".to_owned(), source }
}

/// An event that a platform will send.
#[derive(Clone, Debug)]
pub struct EventBuilder {
    key: String,
    text: String,
    source: Source,
}

impl EventBuilder {
    /// Sets the key that identifies it among its bot's events.
    #[must_use]
    pub fn keyed(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets the author.
    #[must_use]
    pub fn from(mut self, author: &str) -> Self {
        self.source.user_id = Some(author.to_owned());
        self
    }

    /// Sets the chat.
    #[must_use]
    pub fn in_chat(mut self, chat: &str) -> Self {
        chat.clone_into(&mut self.source.chat_id);
        self
    }

    /// Sets the text.
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Changes any other part of the source.
    #[must_use]
    pub fn with_source(mut self, change: impl FnOnce(&mut Source)) -> Self {
        change(&mut self.source);
        self
    }

    /// Sends the event to a bot of the scripted platform, and verifies it with the intake.
    ///
    /// # Panics
    ///
    /// Panics if no client could take the event, or the bot has no key.
    pub fn verified(&self, bot: &Bot) -> VerifiedEvent {
        let body = self.body().to_string();
        let key = bot.key.as_ref().expect("a scripted bot has a key");
        let signature = key.with(|key| sign(key, body.as_bytes()));
        let mut headers = http::HeaderMap::new();
        headers.insert(SIGNATURE_HEADER, signature.parse().expect("hex is a header value"));
        let request = SignedRequest::post(&headers, body.as_bytes());
        let intake = verify(&*PLATFORM, bot, &request).expect("it was signed with the bot's key");
        let Intake::Events(mut events) = intake else { unreachable!("it asks nothing") };
        events.pop().expect("one event was said").expect("every client could take it")
    }

    /// Admits the event with the gate.
    pub async fn admitted(
        &self,
        bot: &Bot,
        gate: &Gate,
    ) -> Result<AdmittedEvent, AdmitError<AdmissionRefusal>> {
        gate.admit(self.verified(bot), None).await.map_err(|(_, error)| error)
    }

    fn body(&self) -> Value {
        json!({ "id": self.key, "event": { "text": self.text, "source": self.source } })
    }
}

/// Returns the snapshot of a bot that belongs to one agent, which any author may reach.
pub fn everybodys(recipient: Recipient) -> ReachChange {
    let agent = (recipient.scope, recipient.agent);
    let terms = AgentTerms {
        version: recipient.version,
        listed: BTreeSet::new(),
        owners: Vec::new(),
        relevance: Relevance::default(),
    };
    ReachChange {
        is_whole: true,
        grants: vec![(GrantTarget::Bot, Some((agent, Principal::Any)))],
        agents: vec![(agent, terms)],
        ..ReachChange::default()
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::TenantId;
    use nightdesk_types::event::Content;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_event_is_what_was_built() {
        let operator = TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil()));
        let bot = bot(BotId::from_uuid(Uuid::nil()), operator);

        let topic = |source: &mut Source| source.thread_id = Some("t1".to_owned());
        let built = event().keyed("k9").from("u9").in_chat("c9").saying("ho").with_source(topic);
        let verified = built.verified(&bot);

        let source = verified.get().source();
        assert_eq!((verified.get().key(), source.chat_id.as_str()), ("k9", "c9"));
        assert_eq!(source.user_id.as_deref(), Some("u9"));
        assert_eq!(source.thread_id.as_deref(), Some("t1"));
        assert_eq!(source.platform, bot.platform);
        let Content::Message(message) = verified.get().content() else { panic!("a message") };
        assert_eq!(message.text, "ho");
    }
}
