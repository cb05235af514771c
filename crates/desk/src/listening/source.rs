//! Source: what a platform told where it was asked is dealt with, and how far it was read is kept.

use std::collections::VecDeque;
use std::time::Instant;

use nightdesk_inbox::SourceMark;
use nightdesk_intake::Told;
use nightdesk_port::Listen;
use nightdesk_register::Gap;
use nightdesk_types::limits::SOURCE_TOGETHER_MAX;
use nightdesk_types::{NodeEpoch, StoreError, Timestamp};

use super::{Listening, Unheard};
use crate::inbound::{Placed, admit, place};
use crate::quarantine::quarantine;
use crate::{Account, Desk};

/// What a stored cursor begins with while what came before it is still asked for: a death meanwhile costs neither
/// the platform's session nor what is missing.
const OWED: &str = "gap ";

/// A source that this node reads, and how far it has.
pub(super) struct Source {
    name: &'static str,
    epoch: NodeEpoch,
    pub(super) cursor: Option<String>,
    /// Whether what came before the cursor is to be asked for, and since when.
    owed: Option<Owed>,
}

/// What is to be asked for before a source goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owed {
    /// Since when something may be missing, as it was when that was noted: somebody may have heard since.
    since: Option<Timestamp>,
}

impl Owed {
    fn written(self, cursor: &str) -> String {
        self.since
            .map_or_else(|| format!("{OWED}{cursor}"), |since| format!("{OWED}{since} {cursor}"))
    }

    /// What is owed before a stored cursor, and the cursor itself.
    fn read(stored: String) -> (Option<Self>, String) {
        let Some(owed) = stored.strip_prefix(OWED) else { return (None, stored) };
        let parts =
            owed.split_once(' ').and_then(|(since, cursor)| Some((since.parse().ok()?, cursor)));
        let (since, cursor) = parts.map_or((None, owed), |(since, cursor)| (Some(since), cursor));
        (Some(Self { since }), cursor.to_owned())
    }

    /// What fell into the gap, by what is known now.
    fn of(self, Gap { since, chats }: Gap) -> Gap {
        Gap { since: self.since.or(since), chats }
    }
}

impl Source {
    pub(super) async fn take(
        desk: &Desk,
        account: &Account,
        name: &'static str,
    ) -> Result<Self, StoreError> {
        let (operator, bot) = (account.bot.operator, account.bot.id);
        let (epoch, stored) = desk.inbox.store().take_source(operator, bot, name).await?;
        let (owed, cursor) = stored.map(Owed::read).unzip();
        Ok(Self { name, epoch, cursor, owed: owed.flatten() })
    }

    fn mark(&self, cursor: String) -> SourceMark {
        SourceMark { source: self.name.to_owned(), epoch: self.epoch, cursor }
    }

    /// Deals with what was told, in order. Answers whether to read on: not if the source is somebody else's, or
    /// the node stops. Then the rest is told to whoever comes next.
    pub(super) async fn read(
        &mut self,
        listening: &Listening,
        (account, ear): (&Account, &dyn Listen),
        (told, is_last_try): (Vec<Told>, bool),
    ) -> Result<bool, Unheard> {
        let at = (account, ear);
        if let Some(owed) = self.owed {
            let gap = owed.of(listening.missed(account).await?);
            let is_filled = listening.fill(at, gap, is_last_try).await?;
            if !is_filled || !self.has_paid(&listening.desk, account).await? {
                return Ok(false);
            }
            self.owed = None;
        }
        let mut rest = VecDeque::from(told);
        while !rest.is_empty() && !listening.drain.is_cancelled() {
            let run = run(&mut rest);
            if let Some(first) = run.first().filter(|first| first.is_after_gap) {
                let gap = listening.missed(account).await?;
                let is_ours = self.owe(&listening.desk, account, (first, gap.since)).await?;
                if !is_ours || !listening.fill(at, gap, is_last_try).await? {
                    return Ok(false);
                }
            }
            if !self.keep(listening, account, run).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes that a gap is to be filled, and where the source goes on after it, if nothing of that has to be stored
    /// itself. Answers whether the source is still ours.
    async fn owe(
        &self,
        desk: &Desk,
        account: &Account,
        (first, since): (&Told, Option<Timestamp>),
    ) -> Result<bool, StoreError> {
        if !matches!(first.said, Ok(None)) {
            return Ok(true);
        }
        let owed = self.mark(Owed { since }.written(&first.cursor));
        self.moves(desk, account, &owed).await
    }

    /// Notes that the gap before the cursor is filled.
    async fn has_paid(&self, desk: &Desk, account: &Account) -> Result<bool, StoreError> {
        let Some(cursor) = self.cursor.clone() else { return Ok(true) };
        self.moves(desk, account, &self.mark(cursor)).await
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_owed_is_read_as_it_was_written() {
        let since: Timestamp = "2026-05-01T12:00:00.25Z".parse().expect("a time");
        for (since, cursor) in [(Some(since), "a b"), (None, "a"), (None, r#"{"seq": 1}"#)] {
            let owed = Owed { since };
            assert_eq!(Owed::read(owed.written(cursor)), (Some(owed), cursor.to_owned()));
        }
        assert_eq!(Owed::read("a b".to_owned()), (None, "a b".to_owned()));
    }

    #[test]
    fn what_was_noted_first_counts() {
        let [early, late] = ["2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"]
            .map(|text| Some(text.parse::<Timestamp>().expect("a time")));
        let since =
            |noted, known| Owed { since: noted }.of(Gap { since: known, chats: vec![] }).since;
        assert_eq!(since(early, late), early);
        assert_eq!(since(None, late), late);
    }
}
