//! Z04: for any frames of a gateway and any course of a line, the session keeps its window, acknowledges each entry at
//! most once and only if it was handed over, and does nothing after its end.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_inbox::{AckRange, Entry, ParkReason, ReadResponse};
use nightdesk_line::LineStart;
use nightdesk_line::session::{
    HelloLookup, LineClient, LineEffect, LineInput, LineSession, SessionTime,
};
use nightdesk_protocol::descriptor::Descriptor;
use nightdesk_protocol::event::EntryJson;
use nightdesk_protocol::lines::Lines;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::{FRAME_OUT_BYTES_MAX, HELLOS_MAX, WINDOW_ENTRIES_MAX};
use nightdesk_types::{
    AgentId, BotId, ClientRules, EntryId, Generation, Incarnation, Moment, RequestId, Seq,
    Timestamp, Transport,
};
use uuid::Uuid;

const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());
const HISTORY: Incarnation = Incarnation::new(5);

/// Most lines of one input.
const STEPS_MAX: usize = 512;

/// Most entries of the inbox.
const ENTRIES_MAX: i64 = 64;

/// Each line is a message of the gateway, or an event of the desk if its first byte is one of the letters below `step`.
pub(super) fn run(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let acks = lines.next().is_none_or(|first| !first.starts_with(b"n"));
    let mut world =
        LineWorld::new(LineClient { agent: AGENT, acks, transport: Transport::WebSocket });
    for line in lines.take(STEPS_MAX) {
        world.follow(line);
    }
}

/// The inbox, the desk and the socket around a session.
struct LineWorld {
    session: LineSession,
    now: Duration,
    frames: Lines,
    /// Hellos without their lookup.
    greets: usize,
    is_taking: bool,
    is_taken: bool,
    /// The request of the running read.
    read: Option<(i64, usize)>,
    /// Sends without their result.
    sends: Vec<RequestId>,
    head: i64,
    handed: BTreeSet<i64>,
    acked: BTreeSet<i64>,
    is_ended: bool,
}

impl LineWorld {
    fn new(client: LineClient) -> Self {
        Self {
            session: LineSession::new(session_time(Duration::ZERO), client),
            now: Duration::ZERO,
            frames: Lines::new(),
            greets: 0,
            is_taking: false,
            is_taken: false,
            read: None,
            sends: Vec::new(),
            head: 0,
            handed: BTreeSet::new(),
            acked: BTreeSet::new(),
            is_ended: false,
        }
    }

    fn follow(&mut self, line: &[u8]) {
        let Some((&letter, rest)) = line.split_first() else { return };
        let number = rest.iter().take(3).filter(|byte| byte.is_ascii_digit());
        let number = number.fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
        match letter {
            b'T' => self.pass(number),
            b'E' => self.put_entries(number),
            b'R' => self.answer_read(number),
            b'A' => self.ack(number),
            b'G' => self.greet(),
            b'K' => self.take(number),
            b'S' => self.answer_send(),
            b'P' => self.step(LineInput::Pong),
            b'I' => self.step(LineInput::Pinged),
            b'F' => {
                if self.read.take().is_some() {
                    self.step(LineInput::ReadFailed);
                }
            }
            b'U' => self.step(LineInput::SuspectFailed),
            b'X' => self.end(number),
            _ => self.hear(line),
        }
    }

    /// Passes a message of the gateway through the reader of lines.
    fn hear(&mut self, line: &[u8]) {
        let message = [line, b"\n"].concat();
        let mut frames = Vec::new();
        if let Ok(lines) = self.frames.push(&message) {
            frames.extend(lines.map(|line| FromGateway::decode(&line)));
        }
        for frame in frames {
            self.step(LineInput::Heard(frame));
        }
    }

    fn pass(&mut self, secs: i64) {
        self.now += Duration::from_secs(secs.unsigned_abs());
        self.step(LineInput::Tick);
        let next = self.session.deadline();
        let now = session_time(self.now).moment;
        assert!(next.is_none_or(|next| next > now), "a tick at its deadline sets a later one");
    }

    fn put_entries(&mut self, count: i64) {
        self.head = (self.head + count).min(ENTRIES_MAX);
        self.step(LineInput::Rung(Some(Seq::new(self.head))));
    }

    fn answer_read(&mut self, most: i64) {
        let Some((after, entries_max)) = self.read.take() else { return };
        let most = usize::try_from(most).unwrap_or_default().max(1).min(entries_max);
        let entries = (after + 1..=self.head).take(most).map(entry).collect();
        self.step(LineInput::Read(ReadResponse::Entries(entries)));
    }

    /// Acknowledges an entry as a gateway does. An entry that was not handed over cannot be acknowledged.
    fn ack(&mut self, seq: i64) {
        let id = EntryId { agent: AGENT, incarnation: HISTORY, seq: Seq::new(seq) };
        let (before, is_handed) = (self.acked.clone(), self.handed.contains(&seq));
        let ack = Frame::inbound_ack(&id.to_string()).expect("an ack is short");
        self.hear(ack.as_str().trim_end().as_bytes());
        assert!(is_handed || self.acked == before, "{seq} was not handed over");
    }

    fn greet(&mut self) {
        if self.greets > 0 {
            self.greets -= 1;
            let length = NonZeroU32::new(2_000).unwrap_or(NonZeroU32::MIN);
            let descriptor = Descriptor::new("discord", "Discord", length);
            self.step(LineInput::Greeted(Box::new(HelloLookup { descriptor })));
        }
    }

    fn take(&mut self, head: i64) {
        if !std::mem::take(&mut self.is_taking) {
            return;
        }
        self.is_taken = true;
        self.head = self.head.max(head.min(ENTRIES_MAX));
        self.step(LineInput::Taken(LineStart {
            incarnation: HISTORY,
            generation: Generation::new(1),
            acked: Seq::new(0),
            since: Timestamp::UNIX_EPOCH,
            head: Seq::new(self.head),
            restarted_ago: (head % 2 == 0).then_some(Duration::ZERO),
            parked: None,
            rules: ClientRules::default(),
        }));
    }

    fn answer_send(&mut self) {
        if let Some(request) = self.sends.pop() {
            self.step(LineInput::Sent(request, Box::new(Outcome::delivered(None))));
        }
    }

    fn end(&mut self, how: i64) {
        self.step(match how {
            0 => LineInput::Replaced,
            1 => LineInput::HistoryChanged,
            2 => LineInput::Revoked,
            3 => LineInput::StoreLost,
            4 => LineInput::Drain,
            code => LineInput::Ended { code: u16::try_from(1_000 + code).unwrap_or(1_006) },
        });
    }

    fn step(&mut self, input: LineInput) {
        let effects = self.session.step(session_time(self.now), input);
        assert!(!self.is_ended || effects.is_empty(), "after the end: {effects:?}");
        for effect in effects {
            assert!(!self.is_ended, "the end is the last effect");
            self.apply(effect);
        }
        assert!(self.session.unacked_entries() <= WINDOW_ENTRIES_MAX);
        assert!(self.session.hellos().len() <= HELLOS_MAX);
        assert_eq!(self.session.is_closed(), self.is_ended, "closed without an end");
        let unacked = self.handed.difference(&self.acked).count();
        let held = self.session.unacked_entries();
        assert!(self.is_ended || unacked == held, "{unacked} handed over, {held} held");
    }

    fn apply(&mut self, effect: LineEffect) {
        match effect {
            LineEffect::Greet(_) => self.greets += 1,
            LineEffect::Take(_) => {
                assert!(!self.is_taking && !self.is_taken, "a line is taken once");
                self.is_taking = true;
            }
            LineEffect::Say(frame) => self.check_frame(&frame),
            LineEffect::Read { after, entries_max, .. } => {
                assert!(self.is_taken && self.read.is_none(), "one read at a time");
                assert!((1..=WINDOW_ENTRIES_MAX).contains(&entries_max), "{entries_max}");
                self.read = Some((after.get(), entries_max));
            }
            LineEffect::Ack(AckRange { from, to, .. }) => {
                assert!(self.handed.contains(&to.get()), "{to} was not handed over");
                for seq in from.get()..=to.get() {
                    assert!(self.acked.insert(seq), "{seq} is acknowledged twice");
                }
            }
            LineEffect::Park(seq, _) => {
                assert!(!self.handed.contains(&seq.get()), "{seq} was handed over and parked");
            }
            LineEffect::Send(outbound) => {
                assert!(self.is_taken, "a send before the line was taken");
                self.sends.push(outbound.request_id);
            }
            LineEffect::End(_) => self.is_ended = true,
            LineEffect::Ping
            | LineEffect::Stop(_)
            | LineEffect::ReportStop(_, _)
            | LineEffect::Suspect
            | LineEffect::FollowRules(_)
            | LineEffect::TellSessions(_)
            | LineEffect::Close(_) => {}
        }
    }

    /// Checks that a frame is one line within its limit, and records the entry in it.
    fn check_frame(&mut self, frame: &Frame) {
        let text = frame.as_str();
        assert!(text.len() <= FRAME_OUT_BYTES_MAX && text.find('\n') == Some(text.len() - 1));
        let Some((_, name)) = text.split_once(r#""bufferId":""#) else { return };
        let id = name.split('"').next().and_then(|name| name.parse::<EntryId>().ok());
        if let Some(id) = id {
            let is_new = self.handed.last().is_none_or(|last| *last < id.seq.get());
            assert!(is_new && self.handed.insert(id.seq.get()), "{} out of order", id.seq);
        }
    }
}

fn session_time(after: Duration) -> SessionTime {
    SessionTime { moment: Moment::after_start(after), wall: Timestamp::UNIX_EPOCH }
}

/// Returns the entry of this number. Most are messages; some are passthroughs, and some cannot be sent.
fn entry(seq: i64) -> Entry {
    let json: &[u8] = match seq % 7 {
        3 => br#"{"type":"passthrough_forward","forward":{}}"#,
        5 => b"not an entry",
        _ => br#"{"type":"inbound","event":{}}"#,
    };
    Entry {
        seq: Seq::new(seq),
        incarnation: HISTORY,
        at: Timestamp::UNIX_EPOCH,
        bot: BotId::from_uuid(Uuid::nil()),
        chat_id: "chat".to_owned(),
        json: EntryJson::from_stored(json.to_vec())
            .map(Arc::new)
            .map_err(|_| ParkReason::Unsendable),
    }
}
