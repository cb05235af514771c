//! For any events of lines and turns, no entry is lost, acked early or handled twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use super::tests::{SEED, at, descriptor, ended, entry, heard, hello};
use super::*;
use crate::limits::TURNS_MAX;
use crate::status::AgentEnd;

/// Short, so that a sequence of events is long enough for a sleep.
const SLEEP_AFTER: Duration = Duration::from_secs(3);

const ASLEEP: SessionEffect = SessionEffect::Show(Status::Over(AgentEnd::Asleep));

/// One event.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Pass(u64),
    /// The desk delivers the next entry, in one of a few chats.
    Give(usize),
    /// A turn ends.
    Turn(usize, TurnResult),
    Take(usize),
    Ask,
    /// The desk answers a request.
    Answer(usize),
    Dialled,
    DialFailed,
    Greeted,
    Lost(u16),
    /// The desk confirmed the idle announcement.
    IdleAcked,
    /// A sleeping agent is started again.
    Wake,
}

/// Generates events, with this weight of messages.
fn happenings(messages: u32) -> impl Strategy<Value = Vec<Happens>> {
    let how = prop_oneof![4 => Just(TurnResult::Well), 1 => Just(TurnResult::Badly)];
    let one = prop_oneof![
        4 => (0_u64..12).prop_map(Happens::Pass),
        messages => (0_usize..3).prop_map(Happens::Give),
        6 => (0_usize..TURNS_MAX, how).prop_map(|(nth, how)| Happens::Turn(nth, how)),
        1 => (0_usize..TURNS_MAX).prop_map(Happens::Take),
        2 => Just(Happens::Ask),
        2 => (0_usize..8).prop_map(Happens::Answer),
        4 => Just(Happens::Dialled),
        1 => Just(Happens::DialFailed),
        4 => Just(Happens::Greeted),
        1 => prop_oneof![Just(1006), Just(1012), Just(1011)].prop_map(Happens::Lost),
        3 => Just(Happens::IdleAcked),
        2 => Just(Happens::Wake),
    ];
    prop::collection::vec(one, 0..150)
}

/// The desk's state of an entry.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    chat: usize,
    /// True if a turn of it succeeded, or took it.
    owned: bool,
    acked: bool,
}

/// The desk, the socket and the turns around a session.
struct World {
    session: AgentSession,
    processes: u8,
    now: Duration,
    entries: Vec<Kept>,
    /// Number of entries that this line delivered.
    given: usize,
    /// The newest entry of each chat that had a turn because of this line.
    newest_of: BTreeMap<String, usize>,
    acked_here: BTreeSet<usize>,
    turns: Vec<(Ticket, usize)>,
    dialling: bool,
    open: bool,
    greeted: bool,
    asked: u64,
    answered: BTreeSet<u64>,
    requests: Vec<String>,
}

impl World {
    fn new() -> Self {
        Self {
            session: process(Duration::ZERO, 0),
            processes: 1,
            now: Duration::ZERO,
            entries: Vec::new(),
            given: 0,
            newest_of: BTreeMap::new(),
            acked_here: BTreeSet::new(),
            turns: Vec::new(),
            dialling: false,
            open: false,
            greeted: false,
            asked: 0,
            answered: BTreeSet::new(),
            requests: Vec::new(),
        }
    }

    fn step(&mut self, input: Input) {
        let effects = self.session.step(at(self.now), input);
        if effects.contains(&ASLEEP) {
            self.has_nothing_in_hand();
        }
        for effect in effects {
            match effect {
                SessionEffect::Dial => self.dialling = true,
                SessionEffect::Say(frame) => self.said(frame.as_str()),
                SessionEffect::Handle(given) => self.begun(&given),
                SessionEffect::Answer(CallId(ask), _) => {
                    assert!(self.answered.insert(ask), "answered once: {ask}");
                }
                SessionEffect::Close(_) => self.line_ended(),
                SessionEffect::Ping
                | SessionEffect::Stop(_)
                | SessionEffect::Greeted(_)
                | SessionEffect::Show(_) => {}
            }
        }
        assert!(self.turns.len() <= TURNS_MAX);
    }

    /// Checks the state of an agent that falls asleep.
    fn has_nothing_in_hand(&self) {
        assert!(self.turns.is_empty(), "a turn is under way");
        assert_eq!(self.answered.len() as u64, self.asked, "somebody waits for an answer");
        let given = &self.entries[..self.given];
        assert!(given.iter().all(|kept| kept.acked), "something is unacked");
    }

    /// Continues in a new process after a sleep.
    fn wake(&mut self) {
        if self.session.is_over() {
            self.session = process(self.now, self.processes);
            self.processes += 1;
            self.step(Input::Tick);
        }
    }

    fn said(&mut self, frame: &str) {
        let json: serde_json::Value = serde_json::from_str(frame).unwrap();
        if let Some(request) = json["requestId"].as_str() {
            assert!(self.greeted, "nothing is sent before the line is live");
            assert!(!self.requests.contains(&request.to_owned()), "said once");
            self.requests.push(request.to_owned());
        }
        if let Some(name) = json["bufferId"].as_str() {
            let n: usize = name.parse().unwrap();
            assert!(n < self.given, "acked on a line that did not give it");
            assert!(self.entries[n].owned, "acked before it was handled");
            assert!(self.acked_here.insert(n), "acked once on a line");
            self.entries[n].acked = true;
        }
    }

    fn begun(&mut self, given: &TurnStart) {
        let Content::Message(inbound) = &given.content else { panic!("not a message") };
        let n: usize = inbound.message.text.parse().unwrap();
        assert!(!self.entries[n].owned, "handled twice: {n}");
        let chat = &inbound.source.chat_id;
        let same = |running: usize| self.entries[running].chat == self.entries[n].chat;
        assert!(!self.turns.iter().any(|(_, running)| same(*running)), "two turns in {chat}");
        let before = self.newest_of.insert(chat.clone(), n);
        assert!(before.is_none_or(|before| before < n), "out of order in {chat}");
        self.turns.push((given.ticket, n));
    }

    /// Delivers the entries that the line lacks, as the desk does: in order, only unacked ones.
    fn give(&mut self, until: usize) {
        while self.open && self.given < until {
            let n = self.given;
            self.given += 1;
            if !self.entries[n].acked {
                self.step(entry(&n.to_string(), &format!("c{}", self.entries[n].chat)));
            }
        }
    }

    fn line_ended(&mut self) {
        (self.open, self.greeted, self.dialling, self.given) = (false, false, false, 0);
        self.newest_of.clear();
        self.acked_here.clear();
    }

    fn happens(&mut self, happens: Happens) {
        match happens {
            Happens::Pass(secs) => {
                self.now += Duration::from_secs(secs);
                self.step(Input::Tick);
            }
            Happens::Give(chat) => {
                // The desk has at most a window unacked on a line.
                let unacked = self.entries.iter().filter(|kept| !kept.acked).count();
                if unacked < TURNS_MAX {
                    self.entries.push(Kept { chat, ..Kept::default() });
                    self.give(self.entries.len());
                }
            }
            Happens::Turn(nth, how) => {
                if let Some(nth) = nth.checked_rem(self.turns.len()) {
                    let (ticket, n) = self.turns.remove(nth);
                    self.entries[n].owned |= how == TurnResult::Well;
                    self.step(Input::Handled(ticket, how));
                }
            }
            Happens::Take(nth) => {
                if let Some((ticket, n)) = self.turns.get(nth).copied() {
                    self.entries[n].owned = true;
                    self.step(Input::Taken(ticket));
                }
            }
            Happens::Ask => {
                let ask = CallId(self.asked);
                self.asked += 1;
                self.step(Input::Asked(ask, wish()));
            }
            Happens::Answer(nth) => {
                if let Some(request) = self.requests.get(nth).filter(|_| self.open) {
                    let request_id = RequestId::new(request.clone()).unwrap();
                    let result = Box::new(Outcome::delivered(None));
                    let answer = ToGateway::OutboundResult { request_id, result };
                    self.step(Input::Heard(answer));
                }
            }
            Happens::IdleAcked if self.open => self.step(heard(r#"{"type":"going_idle_ack"}"#)),
            Happens::Wake => self.wake(),
            Happens::Dialled if self.dialling => {
                (self.dialling, self.open) = (false, true);
                self.step(Input::Dialled);
                self.give(self.entries.len());
            }
            Happens::DialFailed if self.dialling => {
                self.dialling = false;
                self.step(Input::DialFailed(Trouble::Refused { status: 503 }));
            }
            Happens::Greeted if self.open => {
                self.greeted = true;
                self.step(descriptor("discord"));
            }
            Happens::Lost(code) if self.open => {
                self.line_ended();
                self.step(ended(code));
            }
            Happens::Dialled
            | Happens::DialFailed
            | Happens::Greeted
            | Happens::Lost(_)
            | Happens::IdleAcked => {}
        }
    }

    fn lives_through(mut self, happenings: Vec<Happens>) {
        self.step(Input::Tick);
        for happens in happenings {
            self.happens(happens);
        }
        self.finish();
    }

    /// Lets everything succeed from here on: then no entry may be left.
    fn finish(&mut self) {
        self.wake();
        // The entry of a failed turn is delivered again only on a new line.
        for _ in 0..2 {
            self.happens(Happens::Lost(1006));
            self.happens(Happens::Pass(60));
            self.happens(Happens::Dialled);
            self.happens(Happens::Greeted);
            while !self.turns.is_empty() {
                self.happens(Happens::Turn(0, TurnResult::Well));
            }
        }
        for kept in &self.entries {
            assert!(kept.acked, "left over: {:?}", self.entries);
        }
        self.happens(Happens::Pass(40));
        self.step(Input::Disconnect);
        assert_eq!(self.answered.len() as u64, self.asked, "everybody is answered");
    }
}

fn wish() -> DeskRequest {
    let follow_up = nightdesk_protocol::action::FollowUp {
        session_key: SessionKey::new("agent:main:discord:dm:c1").unwrap(),
        kind: "discord.interaction_token".to_owned(),
        content: String::new(),
        metadata: serde_json::Map::default(),
    };
    let action = Action::FollowUp(follow_up);
    DeskRequest::Outbound(Box::new(RoutedAction {
        request_id: None,
        action,
        platform: None,
        bot_handle: None,
    }))
}

/// Returns a process by its number: no two have the same request names.
fn process(now: Duration, nth: u8) -> AgentSession {
    let seed = Seed { requests: [nth; 16], ..SEED };
    AgentSession::new(at(now), vec![hello()], seed).sleeping_after(SLEEP_AFTER)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_entry_is_acked_once_handled_and_never_before(happenings in happenings(8)) {
        World::new().lives_through(happenings);
    }

    #[test]
    fn no_agent_sleeps_with_work_in_hand(happenings in happenings(1)) {
        World::new().lives_through(happenings);
    }
}
