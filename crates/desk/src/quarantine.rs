//! Stores authentic requests that the desk cannot parse, for a person to inspect.

use nightdesk_inbox::{Inbox, QuarantinedEvent};
use nightdesk_intake::UnreadableEvent;
use nightdesk_types::StoreError;

pub(crate) async fn quarantine(
    inbox: &Inbox,
    unreadable: UnreadableEvent,
    body: &[u8],
) -> Result<(), StoreError> {
    let UnreadableEvent { bot, operator, problem } = unreadable;
    tracing::warn!(bot.id = %bot, "quarantined an event of bot {bot}: {problem}");
    let quarantine = QuarantinedEvent { operator, bot, problem, body: body.to_vec() };
    inbox.store().quarantine(&quarantine).await
}
