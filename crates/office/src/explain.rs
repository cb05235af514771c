//! Explanations of events. They contain states, reasons and ids, and no text of a message.

use nightdesk_desk::explaining::{self, Explanation};
use nightdesk_gate::{EventFacts, EventPlace};
use nightdesk_types::{BotId, TenantScope};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use crate::error::OfficeError;
use crate::office::Office;

/// An event that has not happened.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HypotheticalEvent {
    /// The bot that would receive it.
    pub bot: String,
    /// The author, by the platform's id.
    pub author: String,
    /// The chat, by the platform's id.
    pub chat: String,
    /// The guild, workspace or server of the chat. Without it, the chat is a direct one.
    #[serde(default)]
    pub scope: Option<String>,
    /// True if the author is a program.
    #[serde(default)]
    #[param(required = false)]
    pub program: bool,
    /// True if the message addresses the bot.
    #[serde(default)]
    #[param(required = false)]
    pub addressed: bool,
}

impl HypotheticalEvent {
    fn facts(&self) -> EventFacts<'_> {
        EventFacts {
            author: &self.author,
            is_program: self.program,
            is_addressed: self.addressed,
            takes_part: false,
            place: EventPlace {
                scope: self.scope.as_deref(),
                chat: &self.chat,
                parent: None,
                is_direct: self.scope.is_none(),
            },
        }
    }
}

impl Office {
    /// Explains the outcome of an event: by its entry's id, or by the platform's key if the event was refused.
    pub async fn explanation(&self, scope: TenantScope, event: &str) -> Result<Value, OfficeError> {
        match explaining::explain(&*self.desk.stops.records, scope, event).await? {
            Explanation::Unknown => Err(OfficeError::NotFound(format!(
                "the tenant has no record of {event}: only recent refusals are stored, and acknowledged \
                 entries are deleted after a day; `nightdesk inbox list` shows the entries of an agent"
            ))),
            known @ (Explanation::Entry(_) | Explanation::Refused(_)) => Ok(known.to_json()),
        }
    }

    /// Predicts the agents that an event would reach: those of a tenant, or all. The visibility of the chat is not
    /// checked: only the platform knows it.
    pub async fn predict_event(
        &self,
        scope: Option<TenantScope>,
        event: &HypotheticalEvent,
    ) -> Result<Value, OfficeError> {
        let bot: BotId = event.bot.parse().map_err(|_| {
            OfficeError::Invalid(
                "bot is not a bot's id; `nightdesk bot list` shows the ids".to_owned(),
            )
        })?;
        let gate = &self.desk.stops.gate;
        // A person who just bound an author wants to see the binding in the prediction.
        gate.reload_bot(bot).await?;
        let mut decision = gate.explain(bot, &event.facts(), None).await?;
        if let Some(scope) = scope {
            // Agents of other tenants stay hidden, so a bot without agents of the tenant looks like an unknown one.
            decision.verdicts.retain(|verdict| verdict.recipient.scope == scope);
        }
        Ok(explaining::decision_json(&*self.desk.stops.records, &decision).await?)
    }
}
