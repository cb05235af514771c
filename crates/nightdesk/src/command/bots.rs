//! Commands about existing bots: list, check and remove.

use anyhow::{Context, bail, ensure};
use nightdesk_port::Bot;
use nightdesk_register::{BotReception, Register};
use nightdesk_types::limits::DEAF_TOLD_WITHIN;
use nightdesk_types::{BotId, TenantScope, Timestamp};
use serde_json::{Value, json};

use super::{list, names};
use crate::config::Config;
use crate::ui::CommandOutput;

mod discord;
mod telegram;

pub(crate) use discord::missing_intents;

/// A bot of an operator.
#[derive(Debug, clap::Args)]
pub(crate) struct BotArgs {
    /// The tenant that runs the bot, by name or id.
    #[arg(long)]
    tenant: String,
    /// The bot's id.
    #[arg(long)]
    bot: String,
}

impl BotArgs {
    /// Returns the bot, and the address to which its platform may post.
    async fn resolve(
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

pub(super) async fn list_bots(register: &Register, tenant: &str) -> anyhow::Result<CommandOutput> {
    let scope = names::tenant(register, tenant).await?;
    let store = register.store();
    let (open, hearings) = (store.open_bots(scope).await?, store.receptions(scope).await?);
    let show = |bot| {
        let mut shown = list::open_bot(bot);
        let hearing = hearings.iter().find(|hearing| hearing.bot == bot.id);
        shown["hears"] = hearing.map(reception_text).into();
        shown
    };
    Ok(CommandOutput::Many(open.iter().map(show).collect()))
}

/// Formats the reception state of a bot on one line.
fn reception_text(hearing: &BotReception) -> String {
    match (&hearing.outage, hearing.heard_at) {
        (Some(silence), _) => {
            let word = if silence.is_told { "not receiving" } else { "interrupted" };
            format!("{word} since {}: {}", list::format_second(silence.since), silence.why)
        }
        (None, Some(at)) => format!("receiving, last at {}", list::format_second(at)),
        (None, None) => "no node has listened yet".to_owned(),
    }
}

pub(super) async fn check(
    config: &Config,
    register: &Register,
    which: BotArgs,
) -> anyhow::Result<CommandOutput> {
    let (scope, id, hook) = which.resolve(config, register).await?;
    let (bot, adapter) = register.bot(id).await?.context("the bot was removed in the meantime")?;
    let hearings = register.store().receptions(scope).await?;
    let hearing = hearings.into_iter().find(|hearing| hearing.bot == id);
    let mut wrong = reception_faults(hearing.as_ref(), register.store().time().await?);
    let mut shown = json!({
        "bot_id": id, "platform": bot.platform, "handle": bot.handle,
        "heard_at": hearing.as_ref().and_then(|hearing| hearing.heard_at).map(list::format_second),
        "said_at": hearing.as_ref().and_then(|hearing| hearing.said_at).map(list::format_second),
    });
    let checked = match adapter.as_str() {
        nightdesk_telegram::NAME => Some(telegram::check_bot(config, &bot, &hook).await?),
        nightdesk_discord::NAME => Some(discord::check_bot(config, &bot, &hook).await?),
        _ => None,
    };
    if let Some((says, more)) = checked {
        shown["platform_says"] = says;
        wrong.extend(more);
    }
    shown["wrong"] = json!(wrong);
    Ok(CommandOutput::Checked { data: shown, wrong: wrong.len() })
}

/// Returns the faults that the bot's listener recorded.
fn reception_faults(hearing: Option<&BotReception>, now: Timestamp) -> Vec<String> {
    let Some(BotReception { heard_at, outage: silence, .. }) = hearing else { return Vec::new() };
    if let Some(silence) = silence {
        let since = list::format_second(silence.since);
        return vec![format!("no events arrive since {since}: {}", silence.why)];
    }
    let old = |at: &Timestamp| now.duration_since(*at).unsigned_abs() > DEAF_TOLD_WITHIN;
    let unwatched = heard_at.filter(old).map(|at| {
        format!("no node has listened since {}; is one running?", list::format_second(at))
    });
    unwatched.into_iter().collect()
}

pub(super) async fn remove(
    config: &Config,
    register: &Register,
    which: BotArgs,
    yes: bool,
) -> anyhow::Result<CommandOutput> {
    let (scope, id, _) = which.resolve(config, register).await?;
    ensure!(
        yes,
        "bot {id} would be removed, with its key and with all bindings and grants on it, \
         and this cannot be undone; repeat the command with --yes to confirm"
    );
    let platform = match register.bot(id).await {
        Ok(Some((bot, adapter))) => remove_webhook(config, &bot, &adapter).await,
        // A key that does not open does not prevent the removal.
        Ok(None) | Err(_) => None,
    };
    if !register.store().remove_bot(scope, id).await? {
        bail!("another command removed the bot in the meantime");
    }
    Ok(CommandOutput::One(json!({ "bot_id": id, "removed": true, "platform": platform })))
}

/// Stops a bot's platform from posting, if it does. Returns the result.
async fn remove_webhook(config: &Config, bot: &Bot, adapter: &str) -> Option<Value> {
    let is_posted = adapter == nightdesk_telegram::NAME && nightdesk_telegram::is_posted_to(bot);
    if !is_posted {
        return None;
    }
    Some(telegram::remove_webhook(config, bot).await.into())
}

#[cfg(test)]
mod tests {
    use nightdesk_register::Outage;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn who_listens_says_what_is_wrong() {
        let bot = BotId::from_uuid(uuid::Uuid::nil());
        let well = BotReception { bot, heard_at: Some(at(1_000)), said_at: None, outage: None };
        let silence = Outage { since: at(1_000), why: "key rejected".to_owned(), is_told: true };
        let deaf = BotReception { outage: Some(silence), ..well.clone() };
        let told_within = i64::try_from(DEAF_TOLD_WITHIN.as_secs()).unwrap();

        assert_eq!(reception_faults(None, at(0)), [""; 0]);
        assert_eq!(reception_faults(Some(&well), at(1_000 + told_within)), [""; 0]);
        let unwatched = reception_faults(Some(&well), at(1_001 + told_within));
        assert!(unwatched[0].contains("is one running?"), "{unwatched:?}");
        let wrong = reception_faults(Some(&deaf), at(1_001));
        assert_eq!(wrong, ["no events arrive since 1970-01-01T00:16:40Z: key rejected"]);
        assert_eq!(reception_text(&deaf), "not receiving since 1970-01-01T00:16:40Z: key rejected");
        assert_eq!(reception_text(&well), "receiving, last at 1970-01-01T00:16:40Z");
    }
}
