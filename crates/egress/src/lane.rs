//! Lane: what one agent says in one chat stays in order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use nightdesk_types::AgentId;
use tokio::sync::oneshot;

type LaneKey = (AgentId, String);

/// The lanes in use. A lane lives as long as somebody is in it.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    tails: Arc<Mutex<HashMap<LaneKey, Tail>>>,
}

#[derive(Debug)]
struct Tail {
    /// Which turn stands last.
    ticket: u64,
    /// Ends when that turn is over.
    over: oneshot::Receiver<()>,
}

/// A place in a lane. The next one's turn comes when this is dropped.
#[derive(Debug)]
pub struct Turn {
    key: LaneKey,
    ticket: u64,
    before: Option<oneshot::Receiver<()>>,
    lanes: Lanes,
    over: Option<oneshot::Sender<()>>,
}

impl Lanes {
    /// Takes the next place. Places are in the order of these calls.
    pub fn enter(&self, agent: AgentId, chat: &str) -> Turn {
        let key = (agent, chat.to_owned());
        let (over, ends) = oneshot::channel();
        let mut tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        let before = tails.remove(&key);
        let ticket = before.as_ref().map_or(0, |before| before.ticket + 1);
        tails.insert(key.clone(), Tail { ticket, over: ends });
        let before = before.map(|before| before.over);
        Turn { key, ticket, before, lanes: self.clone(), over: Some(over) }
    }

    /// How many lanes are in use.
    pub fn in_use(&self) -> usize {
        self.tails.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Turn {
    /// Waits until everybody before is through.
    pub async fn come(&mut self) {
        if let Some(before) = self.before.take() {
            // An error means that the one before was dropped: its turn is over just the same.
            drop(before.await);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut tails = self.lanes.tails.lock().unwrap_or_else(PoisonError::into_inner);
        if tails.get(&self.key).is_some_and(|tail| tail.ticket == self.ticket) {
            tails.remove(&self.key);
        }
        drop(tails);
        drop(self.over.take());
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;
    use uuid::Uuid;

    use super::*;

    const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());

    #[tokio::test]
    async fn turns_come_in_the_order_they_were_taken() {
        let lanes = Lanes::default();
        let (said, mut heard) = mpsc::channel(8);
        let turns: Vec<Turn> = (0..8).map(|_| lanes.enter(AGENT, "chat")).collect();
        let speak = |(number, mut turn): (usize, Turn)| {
            let said = said.clone();
            tokio::spawn(async move {
                turn.come().await;
                said.send(number).await.unwrap();
            })
        };
        // Started in reverse, and still in order.
        let speakers: Vec<_> = turns.into_iter().enumerate().rev().map(speak).collect();

        for want in 0..8 {
            assert_eq!(heard.recv().await, Some(want));
        }
        for speaker in speakers {
            speaker.await.unwrap();
        }
        assert_eq!(lanes.in_use(), 0, "nothing is left behind");
    }

    #[tokio::test]
    async fn lanes_do_not_wait_for_each_other() {
        let lanes = Lanes::default();
        let _slow = lanes.enter(AGENT, "slow");

        lanes.enter(AGENT, "other").come().await;
    }
}
