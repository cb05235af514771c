//! The store of sends.

use async_trait::async_trait;
use jiff::SignedDuration;
use nightdesk_egress::{Asked, LeftOver, Owner, SendKey, Settled, Store};
use nightdesk_gate::AdmittedSend;
use nightdesk_types::limits::SEND_FORGOTTEN_AFTER;
use nightdesk_types::{BotId, Send, StoreError, Timestamp};

use super::{Memory, SendName, State};

/// A send's row.
pub(super) struct SendRow {
    pub(super) asked_at: Timestamp,
    bot: BotId,
    send: Send,
    stage: Stage,
}

enum Stage {
    Asked,
    Calling(Owner),
    Settled(Settled),
}

impl SendRow {
    pub(super) const fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    /// Whether nobody is at work on it, and then whether its call was begun.
    fn left_over(&self, owner: &Owner, now: Timestamp) -> Option<bool> {
        let forgotten_after = SignedDuration::try_from(SEND_FORGOTTEN_AFTER).ok()?;
        match &self.stage {
            Stage::Asked => (now.duration_since(self.asked_at) > forgotten_after).then_some(false),
            Stage::Calling(by) => is_earlier_life(by, owner).then_some(true),
            Stage::Settled(_) => None,
        }
    }
}

fn is_earlier_life(by: &Owner, owner: &Owner) -> bool {
    by.node == owner.node && by.epoch < owner.epoch
}

fn name(key: &SendKey) -> SendName {
    (key.scope, key.agent, key.request.clone())
}

impl State {
    /// Moves a send on, if it stands where it must.
    fn move_on(&mut self, key: &SendKey, stands: impl FnOnce(&Stage) -> bool, next: Stage) -> bool {
        let row = self.sends.get_mut(&name(key)).filter(|row| stands(&row.stage));
        row.map(|row| row.stage = next).is_some()
    }
}

#[async_trait]
impl Store for Memory {
    async fn ask(&self, send: &AdmittedSend) -> Result<Asked, StoreError> {
        let asked_at = self.now();
        let mut state = self.lock();
        let name = name(&SendKey::from(send));
        if let Some(row) = state.sends.get(&name) {
            return Ok(match &row.stage {
                Stage::Asked | Stage::Calling(_) => Asked::UnderWay,
                Stage::Settled(settled) => Asked::Settled(settled.clone()),
            });
        }
        let (bot, send) = (send.bot(), send.send().clone());
        state.sends.insert(name, SendRow { asked_at, bot, send, stage: Stage::Asked });
        Ok(Asked::New)
    }

    async fn claim(&self, send: &SendKey, owner: &Owner) -> Result<bool, StoreError> {
        let free = |stage: &Stage| matches!(stage, Stage::Asked);
        Ok(self.lock().move_on(send, free, Stage::Calling(owner.clone())))
    }

    async fn settle(
        &self,
        send: &SendKey,
        owner: &Owner,
        settled: &Settled,
    ) -> Result<bool, StoreError> {
        let ours = |stage: &Stage| matches!(stage, Stage::Calling(by) if by == owner);
        Ok(self.lock().move_on(send, ours, Stage::Settled(settled.clone())))
    }

    async fn left_over(
        &self,
        owner: &Owner,
        sends_max: usize,
    ) -> Result<Vec<LeftOver>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let left = |(name, row): (&SendName, &SendRow)| {
            let was_called = row.left_over(owner, now)?;
            let (scope, agent, request) = name.clone();
            let key = SendKey { scope, agent, request };
            let send = row.send.clone();
            Some((row.asked_at, LeftOver { key, bot: row.bot, send, was_called }))
        };
        let mut left: Vec<_> = state.sends.iter().filter_map(left).collect();
        left.sort_by_key(|(asked_at, _)| *asked_at);
        Ok(left.into_iter().take(sends_max).map(|(_, left)| left).collect())
    }

    async fn give_up(&self, send: &SendKey, owner: &Owner) -> Result<(), StoreError> {
        let ended =
            |stage: &Stage| matches!(stage, Stage::Calling(by) if is_earlier_life(by, owner));
        self.lock().move_on(send, ended, Stage::Settled(Settled::Ambiguous));
        Ok(())
    }
}
