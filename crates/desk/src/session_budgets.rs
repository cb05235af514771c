//! Counts the new platform sessions of bots in the store, so that the count survives a restart.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_port::{Bot, SessionBudget};
use nightdesk_register::ReceptionStore;
use nightdesk_types::StoreError;

/// The session budgets of bots.
pub struct SessionBudgets(pub Arc<dyn ReceptionStore>);

impl fmt::Debug for SessionBudgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sessions")
    }
}

#[async_trait]
impl SessionBudget for SessionBudgets {
    async fn spend(&self, bot: &Bot) -> Result<bool, StoreError> {
        self.0.begin(bot.operator, bot.id).await
    }
}
