//! Chooses the authors and messages of the street, and records their confirmation.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nightdesk_judge::Event;
use nightdesk_types::BotId;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::Hall;
use crate::chance::Dice;
use crate::chaos::gateways::answers;
use crate::chaos::manner::Manner;
use crate::chaos::plan::Plan;
use crate::chaos::platform::{is_of_agent, request_in};

/// Percentage of messages that no agent may see: from strangers and programs.
const REFUSED_PERCENT: u64 = 20;

/// Percentage of messages for agents that answer: a bot's rate limit in a chat is lower than the people's rate.
const ANSWERED_PERCENT: u64 = 4;

/// An author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Person {
    /// The person bound to this member's agent.
    Of(usize),
    /// An unbound person.
    Stranger,
    /// A program.
    Program,
}

impl Person {
    /// Returns the next author.
    pub(super) fn next(hall: &Hall, dice: &mut Dice) -> Self {
        match dice.percent(REFUSED_PERCENT) {
            true if dice.percent(50) => Self::Stranger,
            true => Self::Program,
            false => Self::Of(someone(hall, dice)),
        }
    }

    fn expect(self) -> Vec<String> {
        match self {
            Self::Of(member) => vec![Plan::agent(member)],
            Self::Stranger | Self::Program => Vec::new(),
        }
    }
}

/// Returns a member, seldom one whose agent answers.
fn someone(hall: &Hall, dice: &mut Dice) -> usize {
    let is_answered = dice.percent(ANSWERED_PERCENT);
    let is_one = |member: &&usize| is_answered == has_answers(hall, **member);
    let members: Vec<usize> = hall.street.members.iter().filter(is_one).copied().collect();
    members[dice.below(members.len())]
}

fn has_answers(hall: &Hall, member: usize) -> bool {
    answers(member) || hall.plan.manners[member] == Manner::Sdk
}

/// Returns an interval for this rate. Missed ticks are made up. `None` if the rate is zero.
pub(super) fn pace(per_second: u64) -> Option<Interval> {
    let every = Duration::from_secs(1).checked_div(u32::try_from(per_second).ok()?)?;
    let mut pace = interval(every);
    pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    Some(pace)
}

impl Hall {
    /// Records that a person is about to write. A manner that leaves entries unacked may have them parked.
    pub(super) fn writes(&self, person: Person, (bot, chat): (BotId, &str), said: (&str, u64)) {
        let (nonce, order) = said;
        if let Person::Of(member) = person
            && self.plan.manners[member].may_park()
        {
            let (nonce, reason) = (nonce.to_owned(), "tries".to_owned());
            self.notes.note(Event::MayPark { nonce, reason });
        }
        self.notes.note(Event::PlatSend {
            id: nonce.to_owned(),
            bot: bot.to_string(),
            chat: chat.to_owned(),
            user: format!("{person:?}"),
            nonce: nonce.to_owned(),
            expect: person.expect(),
            order: Some(order),
        });
        self.said.fetch_add(1, Ordering::Relaxed);
    }

    fn confirms(&self, id: String) {
        self.notes.note(Event::PlatAck { id, attempt: 1, status: 200 });
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    /// Records a message of the desk. The text of our own gateways is the id of their request.
    pub(super) fn hears(&self, bot: BotId, chat: &str, text: &str) {
        let (bot, chat, text) = (bot.to_string(), chat.to_owned(), text.to_owned());
        self.notes.note(if is_of_agent(&text) {
            let request = request_in(&text);
            Event::PlatEgress { bot, chat, request, nonce: text }
        } else {
            Event::PlatShown { bot, chat, text }
        });
    }
}

/// Unconfirmed messages, each with its mark, in order.
#[derive(Debug)]
pub(super) struct Unconfirmed<M>(Mutex<VecDeque<(M, String)>>);

impl<M> Default for Unconfirmed<M> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<M: PartialOrd> Unconfirmed<M> {
    pub(super) fn add(&self, mark: M, id: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back((mark, id));
    }

    /// Confirms all messages up to this mark.
    pub(super) fn confirmed(&self, hall: &Hall, up_to: &M) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((_, id)) = waiting.pop_front_if(|(mark, _)| *mark <= *up_to) {
            hall.confirms(id);
        }
    }
}
