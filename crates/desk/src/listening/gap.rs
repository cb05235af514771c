//! Handles a gap: a platform could not resume at the stored cursor. The desk notifies the bot's operator and requests
//! the missed messages chat by chat. It retries failed requests until the retry limit.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use nightdesk_intake::{SourceEvent, backfill};
use nightdesk_port::{HistoryRange, Listen, ListenError};
use nightdesk_register::Gap;
use nightdesk_types::limits::{
    GAP_CALLS_MAX, GAP_CHATS_MAX, GAP_MARGIN, RATE_LIMITED_MAX, RATE_LIMITED_MIN,
    SOURCE_TOGETHER_MAX,
};
use nightdesk_types::{StoreError, Timestamp};
use tokio::time::sleep;

use super::{ListenFailure, Listening, NodeListener};
use crate::Account;
use crate::inbound::EventOrigin;
use crate::quarantine::quarantine;

/// The notice to the operator.
const WORDS: &str =
    "its platform had ended the session; the desk requests the messages of that time";

/// The notice to the operator if messages may still be missing.
const UNFILLED: &str = "the desk could not request all missed messages; look through its busiest chats for messages without an answer";

/// The state of a chat after its backfill.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BackfillState {
    /// The desk has everything that the platform returns.
    Whole,
    /// The chat has more messages than the desk requests, or the platform did not respond.
    Partly,
    /// The node stops, and the next listener repeats the backfill.
    Stopped,
}

impl NodeListener {
    /// Records a gap. Returns the time since which messages may be missing, and the chats.
    pub(super) async fn record_gap(
        &self,
        Account { bot, .. }: &Account,
    ) -> Result<Gap, StoreError> {
        tracing::warn!(bot.id = %bot.id, "bot {} may have missed messages; requesting them", bot.id);
        self.context.register.store().record_gap(bot.operator, bot.id, WORDS).await
    }

    /// Fills a gap as far as the platform returns messages, and notifies the operator if some may be missing. Returns
    /// true if nothing remains to be done. While retries remain, a platform that does not respond is an error.
    pub(super) async fn fill_gap(
        &self,
        account: &Account,
        ear: &dyn Listen,
        Gap { since, chats }: Gap,
        is_last_try: bool,
    ) -> Result<bool, ListenFailure> {
        // A bot that never received anything has missed nothing.
        let Some(since) = since else { return Ok(true) };
        let since = since.checked_sub(GAP_MARGIN).unwrap_or(since);
        let mut is_whole = i32::try_from(chats.len()).is_ok_and(|chats| chats < GAP_CHATS_MAX);
        for chat in chats {
            match self.fill_chat(account, ear, &chat, since).await {
                Ok(BackfillState::Stopped) => return Ok(false),
                Ok(chat) => is_whole &= chat == BackfillState::Whole,
                Err(ListenFailure::Platform(_)) if is_last_try => is_whole = false,
                Err(error) => return Err(error),
            }
        }
        if !is_whole {
            let bot = &account.bot;
            self.context.register.store().record_gap(bot.operator, bot.id, UNFILLED).await?;
        }
        Ok(true)
    }

    async fn fill_chat(
        &self,
        account: &Account,
        ear: &dyn Listen,
        chat: &str,
        since: Timestamp,
    ) -> Result<BackfillState, ListenFailure> {
        let mut last: Option<String> = None;
        for _ in 0..GAP_CALLS_MAX {
            let part = last.as_deref().map_or(HistoryRange::Since(since), HistoryRange::After);
            let page = self.fetch_page(account, ear, chat, part);
            let asking = self.drain.run_until_cancelled(page);
            let Some(page) = asking.await else { return Ok(BackfillState::Stopped) };
            let page = match page? {
                ControlFlow::Continue(page) => page,
                ControlFlow::Break(known) => return Ok(known),
            };
            last = page.last().map(|told| told.cursor.clone()).or(last);
            self.store_page(account, page).await?;
        }
        Ok(BackfillState::Partly)
    }

    /// Returns the next page of a chat, or the state of the chat if there is none. After a rate limit it is empty.
    async fn fetch_page(
        &self,
        account: &Account,
        ear: &dyn Listen,
        chat: &str,
        part: HistoryRange<'_>,
    ) -> Result<ControlFlow<BackfillState, Vec<SourceEvent>>, ListenError> {
        let error = match backfill(ear, &account.bot, chat, part).await {
            Ok(page) if page.is_empty() => return Ok(ControlFlow::Break(BackfillState::Whole)),
            Ok(page) => return Ok(ControlFlow::Continue(page)),
            Err(ListenError::RateLimited { retry_after }) => {
                sleep(retry_after.clamp(RATE_LIMITED_MIN, RATE_LIMITED_MAX)).await;
                return Ok(ControlFlow::Continue(Vec::new()));
            }
            Err(error) => error,
        };
        let (bot, told) = (account.bot.id, &error as &dyn Error);
        tracing::warn!(bot.id = %bot, error = told, "could not request the missed messages of a chat");
        // A chat that the bot may not read does not delay the others.
        let is_withheld = matches!(error, ListenError::Barred { .. });
        if is_withheld { Ok(ControlFlow::Break(BackfillState::Whole)) } else { Err(error) }
    }

    /// Stores a page in batches. An event that is stored already is recognised by its key.
    async fn store_page(
        &self,
        account: &Account,
        page: Vec<SourceEvent>,
    ) -> Result<(), StoreError> {
        let (Listening { inbound, inbox, .. }, began) = (&*self.context, Instant::now());
        let mut admitted = Vec::new();
        for SourceEvent { event: said, body, .. } in page {
            match said {
                Ok(Some(event)) => {
                    let origin = EventOrigin::Backfill;
                    admitted.extend(inbound.admissions.admit(account, event, origin).await?);
                }
                Ok(None) => {}
                Err(unreadable) => quarantine(inbox, unreadable, &body).await?,
            }
            if admitted.len() == SOURCE_TOGETHER_MAX {
                inbound.place(account, std::mem::take(&mut admitted), began).await?;
            }
        }
        inbound.place(account, admitted, began).await.map(drop)
    }
}
