//! Stores authentic requests that the desk cannot parse, for a person to inspect.

use nightdesk_inbox::{Inbox, Quarantine};
use nightdesk_intake::Quarantined;
use nightdesk_types::StoreError;

pub(crate) async fn quarantine(
    inbox: &Inbox,
    unreadable: Quarantined,
    body: &[u8],
) -> Result<(), StoreError> {
    let Quarantined { bot, operator, problem } = unreadable;
    tracing::warn!(bot.id = %bot, "quarantined an event of bot {bot}: {problem}");
    let quarantine = Quarantine { operator, bot, problem, body: body.to_vec() };
    inbox.store().quarantine(&quarantine).await
}
