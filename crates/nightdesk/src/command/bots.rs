//! Commands about existing bots: list, check and remove.

use anyhow::{Context, bail, ensure};
use nightdesk_port::Bot;
use nightdesk_register::{Hearing, Register};
use nightdesk_types::limits::DEAF_TOLD_WITHIN;
use nightdesk_types::{BotId, TenantScope, Timestamp};
use serde_json::{Value, json};

use super::{list, names};
use crate::config::Config;
use crate::ui::Answer;

mod discord;
mod telegram;

pub(crate) use discord::missing_intents;

/// A bot of an operator.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// The tenant that runs the bot, by name or id.
    #[arg(long)]
    tenant: String,
    /// The bot's id.
    #[arg(long)]
    bot: String,
}

impl Which {
    /// Returns the bot, and the address to which its platform may post.
    async fn found(
        &self,
        config: &Config,
        register: &Register,
    ) -> anyhow::Result<(TenantScope, BotId, String)> {
        let Self { tenant, bot } = self;
        let (scope, id) = (names::tenant(register, tenant).await?, names::bot(bot)?);
        let path = register.store().hook_path(scope, id).await?;
        let path = path.with_context(|| {
            format!("{tenant} runs no such bot; `nightdesk bot list --tenant {tenant}` shows them")
        })?;
        Ok((scope, id, format!("{}/hooks/{path}", config.public_url())))
    }
}

pub(super) async fn listed(register: &Register, tenant: &str) -> anyhow::Result<Answer> {
    let scope = names::tenant(register, tenant).await?;
    let store = register.store();
    let (open, hearings) = (store.open_bots(scope).await?, store.hearings(scope).await?);
    let show = |bot| {
        let mut shown = list::open_bot(bot);
        let hearing = hearings.iter().find(|hearing| hearing.bot == bot.id);
        shown["hears"] = hearing.map(hears).into();
        shown
    };
    Ok(Answer::Many(open.iter().map(show).collect()))
}

/// Formats the reception state of a bot on one line.
fn hears(hearing: &Hearing) -> String {
    match (&hearing.silence, hearing.heard_at) {
        (Some(silence), _) => {
            let word = if silence.is_told { "not receiving" } else { "interrupted" };
            format!("{word} since {}: {}", list::second(silence.since), silence.why)
        }
        (None, Some(at)) => format!("receiving, last at {}", list::second(at)),
        (None, None) => "no node has listened yet".to_owned(),
    }
}

pub(super) async fn check(
    config: &Config,
    register: &Register,
    which: Which,
) -> anyhow::Result<Answer> {
    let (scope, id, hook) = which.found(config, register).await?;
    let (bot, adapter) = register.bot(id).await?.context("the bot was removed in the meantime")?;
    let hearings = register.store().hearings(scope).await?;
    let hearing = hearings.into_iter().find(|hearing| hearing.bot == id);
    let mut wrong = heard_wrong(hearing.as_ref(), register.store().time().await?);
    let mut shown = json!({
        "bot_id": id, "platform": bot.platform, "handle": bot.handle,
        "heard_at": hearing.as_ref().and_then(|hearing| hearing.heard_at).map(list::second),
        "said_at": hearing.as_ref().and_then(|hearing| hearing.said_at).map(list::second),
    });
    let checked = match adapter.as_str() {
        nightdesk_telegram::NAME => Some(telegram::checked(config, &bot, &hook).await?),
        nightdesk_discord::NAME => Some(discord::checked(config, &bot, &hook).await?),
        _ => None,
    };
    if let Some((says, more)) = checked {
        shown["platform_says"] = says;
        wrong.extend(more);
    }
    shown["wrong"] = json!(wrong);
    Ok(Answer::Checked { data: shown, wrong: wrong.len() })
}

/// Returns the faults that the bot's listener recorded.
fn heard_wrong(hearing: Option<&Hearing>, now: Timestamp) -> Vec<String> {
    let Some(Hearing { heard_at, silence, .. }) = hearing else { return Vec::new() };
    if let Some(silence) = silence {
        let since = list::second(silence.since);
        return vec![format!("no events arrive since {since}: {}", silence.why)];
    }
    let old = |at: &Timestamp| now.duration_since(*at).unsigned_abs() > DEAF_TOLD_WITHIN;
    let unwatched = heard_at
        .filter(old)
        .map(|at| format!("no node has listened since {}; is one running?", list::second(at)));
    unwatched.into_iter().collect()
}

pub(super) async fn remove(
    config: &Config,
    register: &Register,
    which: Which,
    yes: bool,
) -> anyhow::Result<Answer> {
    let (scope, id, _) = which.found(config, register).await?;
    ensure!(
        yes,
        "bot {id} would be removed, with its key and with all bindings and grants on it, \
         and this cannot be undone; repeat the command with --yes to confirm"
    );
    let platform = match register.bot(id).await {
        Ok(Some((bot, adapter))) => let_go(config, &bot, &adapter).await,
        // A key that does not open does not prevent the removal.
        Ok(None) | Err(_) => None,
    };
    if !register.store().remove_bot(scope, id).await? {
        bail!("another command removed the bot in the meantime");
    }
    Ok(Answer::One(json!({ "bot_id": id, "removed": true, "platform": platform })))
}

/// Stops a bot's platform from posting, if it does. Returns the result.
async fn let_go(config: &Config, bot: &Bot, adapter: &str) -> Option<Value> {
    let is_posted = adapter == nightdesk_telegram::NAME && nightdesk_telegram::is_posted_to(bot);
    if !is_posted {
        return None;
    }
    Some(telegram::let_go(config, bot).await.into())
}

#[cfg(test)]
mod tests {
    use nightdesk_register::Silence;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn who_listens_says_what_is_wrong() {
        let bot = BotId::from_uuid(uuid::Uuid::nil());
        let well = Hearing { bot, heard_at: Some(at(1_000)), said_at: None, silence: None };
        let silence = Silence { since: at(1_000), why: "key rejected".to_owned(), is_told: true };
        let deaf = Hearing { silence: Some(silence), ..well.clone() };
        let told_within = i64::try_from(DEAF_TOLD_WITHIN.as_secs()).unwrap();

        assert_eq!(heard_wrong(None, at(0)), [""; 0]);
        assert_eq!(heard_wrong(Some(&well), at(1_000 + told_within)), [""; 0]);
        let unwatched = heard_wrong(Some(&well), at(1_001 + told_within));
        assert!(unwatched[0].contains("is one running?"), "{unwatched:?}");
        let wrong = heard_wrong(Some(&deaf), at(1_001));
        assert_eq!(wrong, ["no events arrive since 1970-01-01T00:16:40Z: key rejected"]);
        assert_eq!(hears(&deaf), "not receiving since 1970-01-01T00:16:40Z: key rejected");
        assert_eq!(hears(&well), "receiving, last at 1970-01-01T00:16:40Z");
    }
}
