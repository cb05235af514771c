//! Delivers fires through the inbox, as entries that the desk itself creates.
//!
//! Their chat exists on no platform and has no reader, so an agent's reply there is accepted and dropped.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_bus::{Bell, Ring};
use nightdesk_letters::Letters;
use nightdesk_protocol::event;
use nightdesk_schedule::{FireClaim, FireEntry, FireOutcome, InboxDeliverer, InboxDelivery};
use nightdesk_types::event::{ChatType, Content, Draft, FireEvent, Message, Source};
use nightdesk_types::{BotId, Event, Seq, StoreError};
use uuid::Uuid;

use crate::Waking;
use crate::letters;

/// The desk's name in place of a platform's.
const PLATFORM: &str = "desk";

/// The prefix of a job's chat id, before the job's name.
const CHAT: &str = "cron:";

/// The bot id of entries that come from no bot.
const NO_BOT: BotId = BotId::from_uuid(Uuid::nil());

/// Returns true if the desk created the chat.
pub(crate) fn is_job_chat(chat_id: &str) -> bool {
    chat_id.starts_with(CHAT)
}

/// Puts fires into inboxes.
#[derive(Debug)]
pub(super) struct FireInboxes {
    pub(super) letters: Arc<Letters>,
    pub(super) waking: Arc<Waking>,
    pub(super) bell: Arc<dyn Bell>,
}

#[async_trait]
impl InboxDeliverer for FireInboxes {
    async fn build_delivery(
        &self,
        fire: &FireClaim,
        words: &str,
    ) -> Result<InboxDelivery, StoreError> {
        if let Some(letter) = letters::deliver_fire(&self.letters, fire).await {
            return letter;
        }
        let refused = || FireOutcome::Refused("the job's text cannot be encoded".to_owned());
        Ok(build_entry(fire, words)
            .map_or_else(|| InboxDelivery::Came(refused()), InboxDelivery::Put))
    }

    async fn notify_stored(&self, fire: &FireClaim, seq: Seq) {
        letters::record_seq(&self.letters, fire, seq).await;
        self.waking.call(fire.scope, fire.agent);
        self.bell.ring(Ring::Entry { agent: fire.agent, seq }).await;
    }
}

fn build_entry(fire: &FireClaim, words: &str) -> Option<FireEntry> {
    let FireClaim { job, fire: id, fire_at, .. } = fire;
    let chat_id = format!("{CHAT}{job}");
    let source = Source {
        platform: PLATFORM.to_owned(),
        chat_id: chat_id.clone(),
        chat_type: ChatType::Dm,
        chat_name: Some(job.to_string()),
        user_id: Some(PLATFORM.to_owned()),
        user_name: Some(PLATFORM.to_owned()),
        ..Source::default()
    };
    let text = if words.is_empty() { format!("cron job {job} is due") } else { words.to_owned() };
    let said = FireEvent {
        job_id: job.to_string(),
        fire_at: fire_at.as_str().to_owned(),
        fire_id: id.to_string(),
    };
    let (message_id, said) = (Some(id.to_string()), Some(said));
    let message = Message { text, message_id, fire: said, ..Message::default() };
    let content = Content::Message(Box::new(message));
    let event = Event::normalise(Draft { key: id.to_string(), source, content }).ok()?;
    let body = event::encode(&event, "").ok()?.into_bytes();
    Some(FireEntry { bot: NO_BOT, chat_id, body })
}

#[cfg(test)]
mod tests {
    use nightdesk_protocol::EntryJson;
    use nightdesk_schedule::{FireAt, JobId, Target};
    use nightdesk_types::limits::{JOB_ID_BYTES_MAX, JOB_WORDS_BYTES_MAX};
    use nightdesk_types::{AgentId, FireId, TenantId, TenantScope};
    use serde_json::{Value, json};

    use super::*;

    fn fire(job: &str) -> FireClaim {
        FireClaim {
            scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1))),
            agent: AgentId::from_uuid(Uuid::from_u128(2)),
            job: JobId::new(job).unwrap(),
            fire: FireId::from_uuid(Uuid::from_u128(3)),
            fire_at: FireAt::parse("2026-06-18T12:34:56.000001+02:00").unwrap(),
            to: Target::Inbox(String::new()),
            tries: 1,
            outcome: None,
        }
    }

    #[test]
    fn a_fire_reads_like_a_message_and_says_what_it_is() {
        let FireEntry { body, chat_id, .. } = build_entry(&fire("tidy up"), "").unwrap();
        let said: Value = serde_json::from_slice(&body).unwrap();
        let event = &said["event"];

        assert_eq!((chat_id.as_str(), is_job_chat(&chat_id)), ("cron:tidy up", true));
        assert_eq!(event["text"], "cron job tidy up is due");
        assert_eq!(event["source"]["platform"], "desk");
        assert_eq!(event["source"]["chat_id"], "cron:tidy up");
        let want = json!({
            "job_id": "tidy up", "fire_at": "2026-06-18T12:34:56.000001+02:00",
            "fire_id": "00000000-0000-0000-0000-000000000003",
        });
        assert_eq!(event["fire"], want);
    }

    #[test]
    fn whatever_a_job_may_be_called_and_say_can_be_put() {
        let words = ["x".repeat(JOB_WORDS_BYTES_MAX), "\u{1}\n".repeat(JOB_WORDS_BYTES_MAX / 2)];
        for (job, words) in ["x".repeat(JOB_ID_BYTES_MAX), "\"{}: /".to_owned()].iter().zip(words) {
            let entry = build_entry(&fire(job), &words).expect(job);
            assert!(EntryJson::from_stored(entry.body).is_ok(), "{job}");
        }
    }
}
