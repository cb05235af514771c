//! Implements the health of bots' reception.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::{BotReception, Gap, Outage, ReceptionStore};
use nightdesk_types::limits::{NOTICES_KEPT_MAX, SESSIONS_BEGUN_MAX, SESSIONS_BEGUN_TOLD};
use nightdesk_types::{BotId, GrantTarget, StoreError, TenantScope, Timestamp};
use nightdesk_wake::{NoticeKind, NoticeSubject, OwnerNotice};

use super::super::{Memory, State, push_bounded};

const DAY: Duration = Duration::from_hours(24);

impl State {
    /// Returns the chats in which a bot may have received messages.
    fn chats_of(&self, bot: BotId) -> Vec<String> {
        let reached = self.agents.values().flat_map(|agent| agent.reached.keys());
        let reached = reached.filter(|(_, of)| *of == bot).map(|(chat, _)| chat.clone());
        let granted = self.grants.iter().filter(|row| row.on.bot == bot);
        let granted = granted.filter_map(|row| match &row.granted {
            GrantTarget::Chat { chat, .. } => Some(chat.clone()),
            GrantTarget::Scope(_) | GrantTarget::Bot => None,
        });
        reached.chain(granted).collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// Returns the health record of a bot, if the operator owns it.
    fn hearing(&mut self, scope: TenantScope, bot: BotId) -> Option<&mut BotReception> {
        self.bots.get(&bot).filter(|row| row.operator == scope)?;
        let nothing = BotReception { bot, heard_at: None, said_at: None, outage: None };
        Some(self.hearings.entry(bot).or_insert(nothing))
    }

    fn tell_operator(&mut self, scope: TenantScope, notice: OwnerNotice) {
        push_bounded(self.notices.entry(scope).or_default(), notice, NOTICES_KEPT_MAX);
    }
}

fn notice(at: Timestamp, bot: BotId, kind: NoticeKind, outcome: &str) -> OwnerNotice {
    let (about, outcome) = (NoticeSubject::Bot(bot), Some(outcome.to_owned()));
    OwnerNotice { at, about, kind, calls: 0, outcome }
}

/// Returns true if this much time has passed.
fn has_passed(since: Timestamp, span: Duration, now: Timestamp) -> bool {
    since.checked_add(span).is_ok_and(|then| then <= now)
}

#[async_trait]
impl ReceptionStore for Memory {
    async fn record_reception(
        &self,
        scope: TenantScope,
        bot: BotId,
        kept: Duration,
        lost: &str,
    ) -> Result<(), StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let Some(hearing) = state.hearing(scope, bot) else { return Ok(()) };
        let before = hearing.heard_at.replace(now);
        hearing.outage = None;
        if before.is_some_and(|before| has_passed(before, kept, now)) {
            state.tell_operator(scope, notice(now, bot, NoticeKind::Missed, lost));
        }
        Ok(())
    }

    async fn record_outage(
        &self,
        scope: TenantScope,
        bot: BotId,
        why: &str,
        deaf_after: Duration,
    ) -> Result<bool, StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let Some(hearing) = state.hearing(scope, bot) else { return Ok(false) };
        let begun = Outage { since: now, why: String::new(), is_told: false };
        let silence = hearing.outage.get_or_insert(begun);
        why.clone_into(&mut silence.why);
        if silence.is_told || !has_passed(silence.since, deaf_after, now) {
            return Ok(false);
        }
        silence.is_told = true;
        state.tell_operator(scope, notice(now, bot, NoticeKind::Deaf, why));
        Ok(true)
    }

    async fn record_message(&self, scope: TenantScope, bot: BotId) -> Result<(), StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        if let Some(hearing) = state.hearing(scope, bot) {
            hearing.said_at = Some(now);
        }
        Ok(())
    }

    async fn record_gap(
        &self,
        scope: TenantScope,
        bot: BotId,
        words: &str,
    ) -> Result<Gap, StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        state.tell_operator(scope, notice(now, bot, NoticeKind::Missed, words));
        let since = state.hearing(scope, bot).and_then(|one| one.heard_at.max(one.said_at));
        Ok(Gap { since, chats: state.chats_of(bot) })
    }

    async fn begin(&self, scope: TenantScope, bot: BotId) -> Result<bool, StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let begun = state.sessions_begun.entry(bot).or_default();
        begun.retain(|at| !has_passed(*at, DAY, now));
        let count = i32::try_from(begun.len()).unwrap_or(i32::MAX);
        if count >= SESSIONS_BEGUN_MAX {
            return Ok(false);
        }
        begun.push(now);
        if count + 1 == SESSIONS_BEGUN_TOLD {
            let words = format!("{SESSIONS_BEGUN_TOLD} sessions were begun in a day");
            state.tell_operator(scope, notice(now, bot, NoticeKind::Sessions, &words));
        }
        Ok(true)
    }

    async fn receptions(&self, scope: TenantScope) -> Result<Vec<BotReception>, StoreError> {
        let state = self.lock();
        let is_own = |bot: &BotId| state.bots.get(bot).is_some_and(|row| row.operator == scope);
        let own = state.hearings.values().filter(|hearing| is_own(&hearing.bot));
        Ok(own.cloned().collect())
    }
}
