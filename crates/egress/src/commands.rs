//! Registers commands on a platform within the bot's rate limit.

use std::time::Duration;

use nightdesk_port::{CommandChange, DeliverError, Receipt};
use nightdesk_types::BotId;
use nightdesk_types::limits::PLATFORM_CALL_WAIT;
use tokio::time::{Instant, sleep_until, timeout};

use crate::egress::{Egress, RateKey};

impl Egress {
    /// Registers or removes a command in one scope of a bot's platform, if the bot's rate limit permits it within that
    /// time.
    pub async fn change_command(
        &self,
        bot: BotId,
        scope_id: &str,
        change: &CommandChange,
        within: Duration,
    ) -> Result<Receipt, DeliverError> {
        let account = self.accounts.find_account(bot).await;
        let account = account.map_err(|error| DeliverError::Unavailable(error.into()))?;
        let account = account.ok_or(DeliverError::KeyRejected)?;
        let (key, pace) = (RateKey::Bot(bot), account.capabilities.bot_pace);
        let at = self.rate_limits.reserve(&key, pace, Instant::now() + within);
        let at = at.ok_or(DeliverError::RateLimited { retry_after: within })?;
        sleep_until(at).await;
        let call = account.platform.command(&account.bot, scope_id, change);
        let answered = timeout(PLATFORM_CALL_WAIT, call).await;
        answered.unwrap_or_else(|late| Err(DeliverError::Ambiguous(late.into())))
    }
}
