//! Source: what a platform told where it was asked is dealt with, and how far it was read is kept.

use std::collections::VecDeque;
use std::time::Instant;

use nightdesk_inbox::SourceMark;
use nightdesk_intake::Told;
use nightdesk_port::Listen;
use nightdesk_types::limits::SOURCE_TOGETHER_MAX;
use nightdesk_types::{NodeEpoch, StoreError};

use super::Listening;
use crate::inbound::{Placed, admit, place};
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
        let mut rest = VecDeque::from(told);
        while !rest.is_empty() && !listening.drain.is_cancelled() {
            let run = run(&mut rest);
            if run.first().is_some_and(|first| first.is_after_gap) {
                listening.fill(account, ear).await?;
            }
            if !self.keep(listening, account, run).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps what was told together. The cursor is where it was, or after what was stored of it, or after all.
    async fn keep(
        &mut self,
        Listening { desk, drain, .. }: &Listening,
        account: &Account,
        run: Vec<Told>,
    ) -> Result<bool, StoreError> {
        let began = Instant::now();
        let (mut admitted, mut last, mut is_stored) = (Vec::new(), None, false);
        for Told { said, body, cursor, .. } in run {
            if drain.is_cancelled() {
                break;
            }
            let mark = self.mark(cursor);
            last = Some(mark.clone());
            let admission = match said {
                Ok(Some(event)) => admit(desk, account, (event, Some(mark))).await?.ok(),
                Ok(None) => None,
                Err(unreadable) => {
                    quarantine(desk, unreadable, &body).await?;
                    None
                }
            };
            is_stored = admission.is_some();
            admitted.extend(admission);
        }
        if place(desk, account, admitted, began).await? == Placed::Fenced {
            return Ok(false);
        }
        let Some(mark) = last else { return Ok(true) };
        // What was refused, or said nothing, stored no cursor.
        let is_ours = is_stored || self.moves(desk, account, &mark).await?;
        self.cursor = Some(mark.cursor);
        Ok(is_ours)
    }

    async fn moves(
        &self,
        desk: &Desk,
        account: &Account,
        mark: &SourceMark,
    ) -> Result<bool, StoreError> {
        let (operator, bot) = (account.bot.operator, account.bot.id);
        desk.inbox.store().move_cursor(operator, bot, mark).await
    }
}

/// The next of what was told that may be put together. Before one that is after a gap, the gap is filled.
fn run(rest: &mut VecDeque<Told>) -> Vec<Told> {
    let goes_on = |told: &&Told| !told.is_after_gap;
    let more = rest.iter().skip(1).take(SOURCE_TOGETHER_MAX - 1).take_while(goes_on).count();
    rest.drain(..rest.len().min(1 + more)).collect()
}
