//! Stores authentic requests that the desk cannot parse, for a person to inspect.

use nightdesk_inbox::Quarantine;
use nightdesk_intake::Quarantined;
use nightdesk_types::StoreError;

use crate::Desk;

pub(crate) async fn quarantine(
    desk: &Desk,
    unreadable: Quarantined,
    body: &[u8],
) -> Result<(), StoreError> {
    let Quarantined { bot, operator, problem } = unreadable;
    tracing::warn!(bot.id = %bot, "quarantined an event of bot {bot}: {problem}");
    let quarantine = Quarantine { operator, bot, problem, body: body.to_vec() };
    desk.inbox.store().quarantine(&quarantine).await
}
