//! Gap: a platform could not go on where we left. Its bot's operator is told, and what was said meanwhile is
//! asked for, chat by chat.

use std::error::Error;
use std::time::Instant;

use nightdesk_intake::{Told, backfill};
use nightdesk_port::{Listen, ListenError, Part};
use nightdesk_register::Gap;
use nightdesk_types::limits::{GAP_MARGIN, GAP_PAGES_MAX, SOURCE_TOGETHER_MAX};
use nightdesk_types::{StoreError, Timestamp};

use super::Listening;
use crate::Account;
use crate::inbound::{admit, place};
use crate::quarantine::quarantine;

/// What its operator reads.
const WORDS: &str =
    "its platform had ended the session; what was said meanwhile is asked for, as far as it tells";

impl Listening {
    /// Notes the gap, and fills it as far as the platform tells. What it does not tell of one chat holds up
    /// nothing.
    pub(super) async fn fill(&self, account: &Account, ear: &dyn Listen) -> Result<(), StoreError> {
        let bot = &account.bot;
        tracing::warn!(bot.id = %bot.id, "bot {} may have missed something; asking for it", bot.id);
        let Gap { since, chats } =
            self.desk.register.store().missed(bot.operator, bot.id, WORDS).await?;
        // Who never heard anything has missed nothing.
        let Some(since) = since else { return Ok(()) };
        let since = since.checked_sub(GAP_MARGIN).unwrap_or(since);
        for chat in chats {
            if self.drain.is_cancelled() {
                break;
            }
            if let Err(Unfilled::Store(error)) = self.fill_chat((account, ear), &chat, since).await
            {
                return Err(error);
            }
        }
        Ok(())
    }

    async fn fill_chat(
        &self,
        (account, ear): (&Account, &dyn Listen),
        chat: &str,
        since: Timestamp,
    ) -> Result<(), Unfilled> {
        let mut last: Option<String> = None;
        for _ in 0..GAP_PAGES_MAX {
            let part = last.as_deref().map_or(Part::Since(since), Part::After);
            let page = backfill(ear, &account.bot, (chat, part)).await.inspect_err(|error| {
                let error = error as &dyn Error;
                tracing::warn!(bot.id = %account.bot.id, error, "a chat could not be asked for");
            })?;
            let Some(end) = page.last().map(|told| told.cursor.clone()) else { break };
            self.keep(account, page).await?;
            last = Some(end);
        }
        Ok(())
    }

    /// Keeps a page, some of it at a time. What comes in again is known by its key.
    async fn keep(&self, account: &Account, page: Vec<Told>) -> Result<(), StoreError> {
        let (desk, began) = (&self.desk, Instant::now());
        let mut admitted = Vec::new();
        for Told { said, body, .. } in page {
            match said {
                Ok(Some(event)) => admitted.extend(admit(desk, account, (event, None)).await?),
                Ok(None) => {}
                Err(unreadable) => quarantine(desk, unreadable, &body).await?,
            }
            if admitted.len() == SOURCE_TOGETHER_MAX {
                place(desk, account, std::mem::take(&mut admitted), began).await?;
            }
        }
        place(desk, account, admitted, began).await.map(drop)
    }
}

#[derive(Debug, thiserror::Error)]
enum Unfilled {
    #[error("the platform did not tell")]
    Platform(#[from] ListenError),
    #[error("could not keep what was told")]
    Store(#[from] StoreError),
}
