//! The platforms whose bots can be connected and checked, for the office.

mod discord;
mod telegram;

use std::sync::Arc;

use nightdesk_office::{PlatformSetup, PlatformSetups};
use nightdesk_port::UnlimitedBudget;

use crate::config::Config;
use discord::DiscordSetup;
use telegram::TelegramSetup;

/// The fault of a bot without a key.
const NO_TOKEN: &str = "the bot has no token; set one with `nightdesk bot rotate-key`";

/// Opens the configured platforms.
pub(crate) fn open(config: &Config) -> anyhow::Result<PlatformSetups> {
    // No session is begun here: a bot may begin only a limited number in a day.
    let discord = DiscordSetup(config.discord.adapter(Arc::new(UnlimitedBudget))?);
    let telegram = TelegramSetup(config.telegram.adapter()?);
    let setups: [(&str, Arc<dyn PlatformSetup>); 2] = [
        (nightdesk_discord::NAME, Arc::new(discord)),
        (nightdesk_telegram::NAME, Arc::new(telegram)),
    ];
    Ok(setups.into_iter().map(|(name, setup)| (name.to_owned(), setup)).collect())
}
