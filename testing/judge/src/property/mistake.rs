//! Mistakes in one receipt of a history.

use crate::event::{Event, Record};

/// A mistake.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mistake {
    DropAck,
    HandAgain,
    OtherAgent,
    OtherOrder,
    OtherId,
    OtherNonce,
    NewIdForATry,
}

/// Each mistake, and the promise that it must break.
pub(super) const MISTAKES: [(Mistake, &str); 7] = [
    (Mistake::DropAck, "I1"),
    (Mistake::HandAgain, "I4"),
    (Mistake::OtherAgent, "I3"),
    (Mistake::OtherOrder, "I6"),
    (Mistake::OtherId, "I8"),
    (Mistake::OtherNonce, "I2"),
    (Mistake::NewIdForATry, "I5"),
];

impl Mistake {
    /// Makes the mistake in the receipt at this index. Returns true if it is possible there.
    pub(super) fn make(self, records: &mut Vec<Record>, at: usize) -> bool {
        match self {
            Self::DropAck => drop_acks(records, at),
            Self::HandAgain => return hand_again(records, at),
            Self::OtherAgent => change(&mut records[at], |r| "mallory".clone_into(r.agent)),
            Self::OtherNonce => change(&mut records[at], |r| "m0".clone_into(r.nonce)),
            Self::OtherOrder => return swap_with_next(records, at),
            Self::OtherId => rename(records, at),
            Self::NewIdForATry => return rename_try(records, at),
        }
        true
    }
}

/// The fields of a receipt that a mistake can change.
struct Receipt<'a> {
    agent: &'a mut String,
    buffer_id: &'a mut String,
    nonce: &'a mut String,
}

fn change(record: &mut Record, change: impl FnOnce(Receipt<'_>)) {
    if let Event::GwRecv { agent, buffer_id, nonce, .. } = &mut record.ev {
        change(Receipt { agent, buffer_id, nonce });
    }
}

/// Returns the line and the id of an ack.
fn acked(record: &Record) -> Option<(&str, &str)> {
    let Event::GwAck { conn, buffer_id, .. } = &record.ev else { return None };
    Some((conn, buffer_id))
}

/// Returns the line and the id of a receipt.
fn handed(record: &Record) -> Option<(&str, &str)> {
    let Event::GwRecv { conn, buffer_id, .. } = &record.ev else { return None };
    Some((conn, buffer_id))
}

fn drop_acks(records: &mut Vec<Record>, at: usize) {
    let id = handed(&records[at]).map(|(_, id)| id.to_owned());
    records.retain(|record| acked(record).is_none_or(|(_, acked)| Some(acked) != id.as_deref()));
}

/// Repeats the frame directly after its ack.
fn hand_again(records: &mut Vec<Record>, at: usize) -> bool {
    let ack = records
        .iter()
        .position(|record| acked(record).is_some_and(|acked| Some(acked) == handed(&records[at])));
    let Some(ack) = ack else { return false };
    let again = Record { at_ns: records[ack].at_ns, ..records[at].clone() };
    records.insert(ack + 1, again);
    true
}

/// Swaps two frames of one line.
fn swap_with_next(records: &mut [Record], at: usize) -> bool {
    let conn = |record: &Record| handed(record).map(|(conn, _)| conn.to_owned());
    let line = conn(&records[at]);
    let Some(next) = (at + 1..records.len()).find(|&next| conn(&records[next]) == line) else {
        return false;
    };
    let (one, other) = (records[at].ev.clone(), records[next].ev.clone());
    (records[at].ev, records[next].ev) = (other, one);
    true
}

/// Gives an entry another id than in the tables.
fn rename(records: &mut [Record], at: usize) {
    let id = handed(&records[at]).map(|(_, id)| id.to_owned()).unwrap_or_default();
    for record in records {
        if let Event::GwRecv { buffer_id, .. } | Event::GwAck { buffer_id, .. } = &mut record.ev
            && *buffer_id == id
        {
            "other".clone_into(buffer_id);
        }
    }
}

/// Gives one delivery another id, if it is not the first.
fn rename_try(records: &mut [Record], at: usize) -> bool {
    let id = handed(&records[at]).map(|(_, id)| id);
    let is_first = records[..at].iter().all(|before| handed(before).map(|(_, id)| id) != id);
    change(&mut records[at], |receipt| "other".clone_into(receipt.buffer_id));
    !is_first
}
