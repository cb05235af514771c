//! Source: what a platform told where it was asked is dealt with, and how far it was read is kept.

use std::time::Instant;

use nightdesk_inbox::SourceMark;
use nightdesk_intake::Told;
use nightdesk_port::Listen;
use nightdesk_types::{NodeEpoch, StoreError};

use super::Listening;
use crate::inbound::{Placed, put};
use crate::quarantine::quarantine;
use crate::{Account, Desk};

/// A source that this node reads, and how far it has.
pub(super) struct Source {
    name: &'static str,
    epoch: NodeEpoch,
    pub(super) cursor: Option<String>,
}

impl Source {
    pub(super) async fn take(
        desk: &Desk,
        account: &Account,
        name: &'static str,
    ) -> Result<Self, StoreError> {
        let (operator, bot) = (account.bot.operator, account.bot.id);
        let (epoch, cursor) = desk.inbox.store().take_source(operator, bot, name).await?;
        Ok(Self { name, epoch, cursor })
    }

    fn mark(&self, cursor: String) -> SourceMark {
        SourceMark { source: self.name.to_owned(), epoch: self.epoch, cursor }
    }

    /// Deals with what was told, in order. Answers whether the source is still ours; when the node
    /// stops, the rest is told to whoever comes next.
    pub(super) async fn read(
        &mut self,
        listening: &Listening,
        (account, ear): (&Account, &dyn Listen),
        told: Vec<Told>,
    ) -> Result<bool, StoreError> {
        let desk = &listening.desk;
        let mut last = None;
        for Told { said, body, cursor, is_after_gap } in told {
            if listening.drain.is_cancelled() {
                break;
            }
            if is_after_gap {
                listening.fill(account, ear).await?;
            }
            let mark = self.mark(cursor);
            match said {
                Ok(Some(event)) => {
                    let event = (event, Some(&mark));
                    if put(desk, account, event, Instant::now()).await? == Placed::Fenced {
                        return Ok(false);
                    }
                }
                Ok(None) => {}
                Err(unreadable) => quarantine(desk, unreadable, &body).await?,
            }
            last = Some(mark);
        }
        // What was refused, or said nothing, stored no cursor.
        let Some(mark) = last else { return Ok(true) };
        let (operator, bot) = (account.bot.operator, account.bot.id);
        let is_ours = desk.inbox.store().move_cursor(operator, bot, &mark).await?;
        self.cursor = Some(mark.cursor);
        Ok(is_ours)
    }
}
