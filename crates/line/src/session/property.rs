//! Property: no sequence of inputs loses an entry that a line was given.

use std::collections::BTreeSet;
use std::time::Duration;

use nightdesk_inbox::AckRange;
use nightdesk_types::limits::WINDOW_ENTRIES_MAX;
use proptest::prelude::*;

use super::tests::{AGENT, ack_of, at, entry, heard, opened, passthrough, taken, unsendable};
use super::*;

/// One input.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Pass(u64),
    Put(Kind),
    Ack(usize),
    AckUnknown(i64),
    Answer(usize),
    ReadFails,
    Rung,
    Pong,
    Send,
    GoingIdle,
    Drain,
    Replaced,
    Lost(u16),
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Message,
    Passthrough,
    Unsendable,
}

fn happenings() -> impl Strategy<Value = Vec<Happens>> {
    let kind = prop_oneof![
        4 => Just(Kind::Message),
        2 => Just(Kind::Passthrough),
        1 => Just(Kind::Unsendable),
    ];
    let one = prop_oneof![
        // Ends are rare, so that most lines live until the final check.
        160 => (0_u64..8).prop_map(Happens::Pass),
        320 => kind.prop_map(Happens::Put),
        320 => (0_usize..120).prop_map(Happens::Ack),
        40 => (0_i64..200).prop_map(Happens::AckUnknown),
        400 => (0_usize..14).prop_map(Happens::Answer),
        40 => Just(Happens::ReadFails),
        80 => Just(Happens::Rung),
        80 => Just(Happens::Pong),
        80 => Just(Happens::Send),
        40 => Just(Happens::GoingIdle),
        1 => Just(Happens::Drain),
        1 => Just(Happens::Replaced),
        1 => prop_oneof![Just(1006), Just(1009), Just(1000)].prop_map(Happens::Lost),
    ];
    prop::collection::vec(one, 0..120)
}

/// The inbox and the socket around a session.
struct World {
    session: LineSession,
    now: Duration,
    kinds: Vec<Kind>,
    /// The request of the running read.
    asked: Option<(i64, usize)>,
    said: Vec<i64>,
    acked: BTreeSet<i64>,
    parked: BTreeSet<i64>,
    ended: bool,
}

impl World {
    fn new(acks: bool) -> Self {
        let session =
            opened(LineClient { agent: AGENT, acks, transport: Transport::WebSocket }, taken(0));
        Self {
            session,
            now: Duration::ZERO,
            kinds: Vec::new(),
            asked: None,
            said: Vec::new(),
            acked: BTreeSet::new(),
            parked: BTreeSet::new(),
            ended: false,
        }
    }

    fn step(&mut self, input: LineInput) {
        let was_ended = self.ended;
        let effects = self.session.step(at(self.now), input);
        assert!(!was_ended || effects.is_empty(), "nothing comes after the end: {effects:?}");
        for effect in effects {
            match effect {
                LineEffect::Read { after, entries_max, .. } => {
                    assert!(self.asked.is_none(), "one read at a time");
                    self.asked = Some((after.get(), entries_max));
                }
                LineEffect::Ack(AckRange { from, to, .. }) => {
                    let fresh = (from.get()..=to.get()).all(|seq| self.acked.insert(seq));
                    assert!(fresh, "acked once: {from}..={to}");
                }
                LineEffect::Park(seq, _) => assert!(self.parked.insert(seq.get())),
                LineEffect::End(_) => self.ended = true,
                LineEffect::Say(frame) => self.said.extend(name_of(frame.as_str())),
                LineEffect::Greet(_)
                | LineEffect::Take(_)
                | LineEffect::Ping
                | LineEffect::Send(_)
                | LineEffect::Stop(_)
                | LineEffect::ReportStop(..)
                | LineEffect::Suspect
                | LineEffect::FollowRules(_)
                | LineEffect::TellSessions(_)
                | LineEffect::Close(_) => {}
            }
        }
        self.check();
    }

    fn happens(&mut self, happens: Happens) {
        match happens {
            Happens::Pass(secs) => {
                self.now += Duration::from_secs(secs);
                self.step(LineInput::Tick);
                let next = self.session.deadline();
                assert!(
                    next.is_none_or(|next| next > at(self.now).moment),
                    "who is asked when it wanted to be wants to be asked later, and not at once"
                );
            }
            Happens::Put(kind) => {
                self.kinds.push(kind);
                let head = i64::try_from(self.kinds.len()).unwrap();
                self.step(LineInput::Rung(Some(Seq::new(head))));
            }
            Happens::Ack(nth) => {
                if let Some(seq) = self.said.get(nth).copied() {
                    self.step(ack_of(seq));
                }
            }
            Happens::AckUnknown(seq) => {
                if !self.said.contains(&seq) {
                    let before = self.acked.clone();
                    self.step(ack_of(seq));
                    assert_eq!(self.acked, before, "what was not handed over cannot be acked");
                }
            }
            Happens::Answer(most) => self.answer(most),
            Happens::ReadFails => {
                if self.asked.take().is_some() {
                    self.step(LineInput::ReadFailed);
                }
            }
            Happens::Rung => self.step(LineInput::Rung(None)),
            Happens::Pong => self.step(LineInput::Pong),
            Happens::Send => self.step(heard(
                r#"{"type":"outbound","requestId":"r","action":{"op":"typing","chat_id":"chat"}}"#,
            )),
            Happens::GoingIdle => self.step(heard(r#"{"type":"going_idle"}"#)),
            Happens::Drain => self.step(LineInput::Drain),
            Happens::Replaced => self.step(LineInput::Replaced),
            Happens::Lost(code) => self.step(LineInput::Ended { code }),
        }
    }

    /// Answers the read with at most `most` entries.
    fn answer(&mut self, most: usize) {
        let Some((after, entries_max)) = self.asked.take() else { return };
        let made = |(index, kind): (usize, &Kind)| {
            let seq = i64::try_from(index).unwrap() + 1;
            match kind {
                Kind::Message => entry(seq),
                Kind::Passthrough => passthrough(seq),
                Kind::Unsendable => unsendable(seq),
            }
        };
        let all = self.kinds.iter().enumerate().map(made);
        let least = usize::from(i64::try_from(self.kinds.len()).unwrap() > after);
        let entries: Vec<_> = all
            .filter(|entry| entry.seq.get() > after)
            .take(most.clamp(least, entries_max))
            .collect();
        self.step(LineInput::Read(ReadResponse::Entries(entries)));
    }

    fn check(&self) {
        let held = self.session.unacked_entries();
        assert!(held <= WINDOW_ENTRIES_MAX);
        assert!(self.said.is_sorted_by(|one, next| one < next), "once each, in order");
        let unsettled = self.said.iter().filter(|seq| !self.acked.contains(*seq)).count();
        // After the end, the table still has the unsettled entries.
        assert!(self.ended || unsettled == held, "{unsettled} said and unsettled, {held} held");
    }

    /// Completes all work without faults; then no entry may remain.
    fn finish(&mut self) {
        for _ in 0..self.kinds.len() + 20 {
            self.happens(Happens::Pass(11));
            self.happens(Happens::Pong);
            self.happens(Happens::Answer(usize::MAX));
            for seq in self.said.clone() {
                self.step(ack_of(seq));
            }
        }
        let settled: BTreeSet<i64> = self.acked.union(&self.parked).copied().collect();
        let all = (1..=i64::try_from(self.kinds.len()).unwrap()).collect();
        assert!(self.ended || settled == all, "settled {settled:?} of {}", self.kinds.len());
    }
}

/// Returns the number of the entry that a frame names.
fn name_of(frame: &str) -> Option<i64> {
    let (_, name) = frame.split_once(r#""bufferId":""#)?;
    let id: EntryId = name.split('"').next()?.parse().ok()?;
    Some(id.seq.get())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    // Q7, Q8: drain, ack and reconnect; the window is never exceeded.
    #[test]
    fn every_entry_is_acked_parked_given_back_or_held(
        happenings in happenings(),
        acks in prop::bool::weighted(0.9),
    ) {
        let mut world = World::new(acks);
        for happens in happenings {
            world.happens(happens);
        }
        world.finish();
        prop_assert!(world.acked.is_disjoint(&world.parked));
    }
}
