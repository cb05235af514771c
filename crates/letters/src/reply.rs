//! The reply to a letter: an agent's message in the chat of the letter, and the sender's wait for it.

use nightdesk_bus::Ring;
use nightdesk_protocol::delivery::{Millis, Response};
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::limits::{LETTER_BYTES_MAX, REPLY_LOOKED_EVERY};
use nightdesk_types::send::Op;
use nightdesk_types::{LetterId, Send, StoreError};
use tokio::time::sleep;

use crate::entry::{NO_BOT, PLATFORM, chat_id, letter_in_chat};
use crate::error::ConnectorError;
use crate::letter::{Letter, LetterState, Party, ReplyOutcome};
use crate::letters::Letters;

const UNKNOWN_LETTER: &str = "this agent received no such letter";

impl Letters {
    /// Stores an agent's message in the chat of a letter as the reply. Every other operation there has no effect.
    pub async fn store_reply(&self, by: Party, send: &Send) -> Outcome {
        let Op::Send { content, reply_to } = &send.op else { return Outcome::delivered(None) };
        let Some(letter) = letter_in_chat(&send.chat_id) else {
            return Outcome::refused(PLATFORM, UNKNOWN_LETTER);
        };
        if content.is_empty() || !is_answer(send, reply_to.as_deref(), letter) {
            return Outcome::delivered(None);
        }
        if content.len() > LETTER_BYTES_MAX {
            return Outcome::failed(format!("a reply has at most {LETTER_BYTES_MAX} bytes"));
        }
        match self.store.store_reply(by, letter, &content.replace('\0', "")).await {
            Ok(ReplyOutcome::Taken) => {
                self.bell.ring(Ring::Chat { bot: NO_BOT, chat: chat_id(letter) }).await;
                Outcome::delivered(Some(letter.to_string()))
            }
            Ok(ReplyOutcome::Again) => Outcome::delivered(None),
            Ok(ReplyOutcome::Late) => Outcome::failed("the sender no longer waits for this reply"),
            Ok(ReplyOutcome::Unknown) => Outcome::refused(PLATFORM, UNKNOWN_LETTER),
            Err(_) => Outcome::unrecorded("the reply could not be stored"),
        }
    }
}

/// Returns true if a message is the answer to the letter. The stock client also posts missing settings and its tools in
/// the same chat. The last message of a turn replies to a message, or has `notify` in its metadata.
fn is_answer(send: &Send, reply_to: Option<&str>, letter: LetterId) -> bool {
    let answers = reply_to.is_some_and(|id| id == letter.to_string());
    answers || send.metadata.get("notify").is_some_and(|notify| notify == true)
}

/// Waits until a letter is answered or has timed out. The row decides, and the bell is only a hint. The first read after the deadline ends the wait for all.
pub(crate) async fn wait_for_reply(
    letters: &Letters,
    from: Party,
    letter: LetterId,
) -> Result<Option<Letter>, StoreError> {
    let watch = letters.waits.watch(NO_BOT, &chat_id(letter)).ok();
    loop {
        let Some(found) = letters.store.letter(from, letter).await? else { return Ok(None) };
        if matches!(found.state, LetterState::Replied | LetterState::TimedOut) {
            return Ok(Some(found));
        }
        let hint = async {
            match &watch {
                Some(watch) => watch.wait_for_ring().await,
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
pub(crate) fn response_from(
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
