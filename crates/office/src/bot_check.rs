//! The state of a bot, from the records of its listener and from its platform.

use nightdesk_register::BotReception;
use nightdesk_types::limits::DEAF_TOLD_WITHIN;
use nightdesk_types::{BotId, TenantScope, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::bots::OwnBot;
use crate::error::OfficeError;
use crate::office::Office;
use crate::ports::PlatformFindings;
use crate::times::seconds;

/// The state of a bot, and its faults.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BotCheck {
    /// The bot.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The platform's name.
    pub platform: String,
    /// Its handle on the platform.
    pub handle: String,
    /// The time at which its platform last answered without a fault.
    pub heard_at: Option<String>,
    /// The time of the last message to it.
    pub said_at: Option<String>,
    /// Its state at the platform, if the platform can be queried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_says: Option<Value>,
    /// The faults, each with its fix.
    pub wrong: Vec<String>,
}

impl Office {
    /// Queries a bot's platform and the records of its listener.
    pub async fn check_bot(
        &self,
        scope: TenantScope,
        called: &str,
    ) -> Result<BotCheck, OfficeError> {
        let OwnBot { id, hook } = self.own_bot(scope, called).await?;
        let (bot, adapter) = self.stored_bot(id).await?;
        let store = self.desk.stops.register.store();
        let receptions = store.receptions(scope).await?;
        let reception = receptions.into_iter().find(|reception| reception.bot == id);
        let mut wrong = reception_faults(reception.as_ref(), store.time().await?);
        let mut platform_says = None;
        if let Some(setup) = self.setups.get(&adapter) {
            let PlatformFindings { says, wrong: more } = setup.check_bot(&bot, &hook).await;
            platform_says = Some(says);
            wrong.extend(more);
        }
        let (heard_at, said_at) =
            reception.map_or((None, None), |reception| (reception.heard_at, reception.said_at));
        Ok(BotCheck {
            bot_id: id,
            platform: bot.platform,
            handle: bot.handle,
            heard_at: heard_at.map(seconds),
            said_at: said_at.map(seconds),
            platform_says,
            wrong,
        })
    }
}

/// Formats the reception state of a bot on one line.
pub(crate) fn reception_text(reception: &BotReception) -> String {
    match (&reception.outage, reception.heard_at) {
        (Some(outage), _) => {
            let word = if outage.is_told { "not receiving" } else { "interrupted" };
            format!("{word} since {}: {}", seconds(outage.since), outage.why)
        }
        (None, Some(at)) => format!("receiving; last heard {}", seconds(at)),
        (None, None) => "no node has listened yet".to_owned(),
    }
}

/// Returns the faults that the bot's listener recorded.
fn reception_faults(reception: Option<&BotReception>, now: Timestamp) -> Vec<String> {
    let Some(BotReception { heard_at, outage, .. }) = reception else { return Vec::new() };
    if let Some(outage) = outage {
        let since = seconds(outage.since);
        return vec![format!("no events arrive since {since}: {}", outage.why)];
    }
    let old = |at: &Timestamp| now.duration_since(*at).unsigned_abs() > DEAF_TOLD_WITHIN;
    let unwatched = heard_at
        .filter(old)
        .map(|at| format!("no node has listened since {}; is one running?", seconds(at)));
    unwatched.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use nightdesk_register::Outage;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_bot_that_hears_nothing_has_a_fault() {
        let bot = "00000000-0000-0000-0000-000000000000".parse().unwrap();
        let well = BotReception { bot, heard_at: Some(at(1_000)), said_at: None, outage: None };
        let outage = Outage { since: at(1_000), why: "key rejected".to_owned(), is_told: true };
        let deaf = BotReception { outage: Some(outage), ..well.clone() };
        let told_within = i64::try_from(DEAF_TOLD_WITHIN.as_secs()).unwrap();

        assert_eq!(reception_faults(None, at(0)), [""; 0]);
        assert_eq!(reception_faults(Some(&well), at(1_000 + told_within)), [""; 0]);
        let unwatched = reception_faults(Some(&well), at(1_001 + told_within));
        assert!(unwatched[0].contains("is one running?"), "{unwatched:?}");
        let wrong = reception_faults(Some(&deaf), at(1_001));
        assert_eq!(wrong, ["no events arrive since 1970-01-01T00:16:40Z: key rejected"]);
        assert_eq!(reception_text(&deaf), "not receiving since 1970-01-01T00:16:40Z: key rejected");
        assert_eq!(reception_text(&well), "receiving; last heard 1970-01-01T00:16:40Z");
    }
}
