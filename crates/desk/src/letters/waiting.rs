//! Waits for a reply, or for an agent to dial in. The row decides; the bell is only a hint.

use nightdesk_courier::{Cause, ConnectorError, Letter, LetterState, Live, Party};
use nightdesk_protocol::delivery::{Millis, Response};
use nightdesk_types::limits::{REPLY_LOOKED_EVERY, WOKEN_LOOKED_EVERY, WOKEN_WAIT};
use nightdesk_types::{LetterId, StoreError};
use tokio::time::{Instant, sleep};

use super::LetterContext;
use super::chat::{NO_BOT, chat_of};

/// Waits until a letter is answered or has timed out. The first read after the deadline ends the wait for all.
pub(super) async fn answered(
    desk: &LetterContext,
    from: Party,
    letter: LetterId,
) -> Result<Option<Letter>, StoreError> {
    let rung = desk.courier.waits.watch(NO_BOT, &chat_of(letter)).ok();
    loop {
        let found = desk.courier.store.letter(from, letter).await?;
        let Some(found) = found else { return Ok(None) };
        if matches!(found.state, LetterState::Replied | LetterState::TimedOut) {
            return Ok(Some(found));
        }
        let hint = async {
            match &rung {
                Some(rung) => rung.rung().await,
                // There was no room for another listener.
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = sleep(REPLY_LOOKED_EVERY) => {}
            () = hint => {}
        }
    }
}

/// Returns the reply in a letter, or a timeout if there is none.
pub(super) fn reply_in(
    letter: Letter,
    by: &str,
    timeout_ms: u64,
) -> Result<Response, ConnectorError> {
    let Some((content, at)) = letter.reply else {
        return Err(ConnectorError::Timeout { timeout_ms });
    };
    Ok(Response {
        correlation_id: letter.correlation_id.unwrap_or_else(|| letter.id.to_string()),
        content,
        sent_at: Millis(at.as_millisecond()),
        agent_id: by.to_owned(),
    })
}

/// Waits up to [`WOKEN_WAIT`] for an agent to dial in.
pub(super) async fn up(desk: &LetterContext, party: Party) -> Result<Option<Live>, Cause> {
    let until = Instant::now() + WOKEN_WAIT;
    loop {
        let live = desk.courier.store.live(party).await;
        let live = live.map_err(|_| Cause::Network("the desk cannot look now".to_owned()))?;
        if live.is_some() || Instant::now() >= until {
            return Ok(live);
        }
        sleep(WOKEN_LOOKED_EVERY).await;
    }
}
