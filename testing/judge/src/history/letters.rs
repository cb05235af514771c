//! Rows of letters and shelf items, and of their results.

use std::collections::BTreeSet;

use crate::event::Event;
use crate::history::History;
use crate::history::rows::{About, Mark};
use crate::history::take::Sent;
use crate::names::{Name, number};

/// Bot of letters, which have none.
const NO_BOT: &str = "letters";

/// Status if no reply arrived in time.
const NO_REPLY: u16 = 504;

/// Status of a forbidden letter.
const REFUSED: u16 = 403;

/// A letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter {
    pub(crate) mark: Mark,
    pub(crate) nonce: Name,
    pub(crate) to: Name,
    /// True if the sender may write to the recipient.
    pub(crate) may: bool,
    /// True if the sender waits for the reply.
    pub(crate) asks: bool,
}

/// The result of one attempt to send a letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LetterAnswer {
    pub(crate) mark: Mark,
    /// Index of the letter.
    pub(crate) letter: u32,
    pub(crate) came: Came,
}

/// The kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// The letter is accepted.
    Taken,
    /// The letter is accepted, with this reply.
    Replied(Name),
    /// The letter is accepted, without a reply.
    NoReply,
}

/// An agent's reply to a letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply {
    pub(crate) mark: Mark,
    pub(crate) agent: Name,
    pub(crate) nonce: Name,
    pub(crate) words: Name,
}

/// A write to a shelf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShelfPut {
    pub(crate) mark: Mark,
    pub(crate) item: Name,
    pub(crate) words: Name,
    /// The version of the stored item, if it is known.
    pub(crate) version: Option<(Mark, Name)>,
}

/// The final state of an item on a shelf.
#[derive(Clone, Debug)]
pub(crate) struct ShelfRow {
    pub(crate) mark: Mark,
    pub(crate) item: Name,
    pub(crate) words: Option<Name>,
    pub(crate) versions: Vec<Name>,
}

/// An item that an agent of another tenant saw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShelfLeak {
    pub(crate) to: About,
    pub(crate) item: Name,
}

impl History {
    pub(super) fn take_letters(&mut self, mark: Mark, event: &Event) {
        if let Event::LetterSend { id, to, nonce, may, asks, .. } = event {
            self.take_letter(mark, [id, to, nonce], (*may, *asks));
        } else if let Event::LetterAck { id, status, reply, .. } = event {
            self.take_letter_answer(mark, id, (*status, reply.as_deref()));
        } else if let Event::LetterReply { agent, nonce, words, .. } = event {
            let [agent, nonce, words] = self.names([agent, nonce, words]);
            self.replies.push(Reply { mark, agent, nonce, words });
        } else {
            self.take_shelf(mark, event);
        }
    }

    fn take_shelf(&mut self, mark: Mark, event: &Event) {
        if let Event::ShelfPut { request, item, words, .. } = event {
            let [request, item, words] = self.names([request, item, words]);
            self.put_by_request.set(request, self.shelf_puts.len());
            self.shelf_puts.push(ShelfPut { mark, item, words, version: None });
        } else if let Event::ShelfAnswer { request, version: Some(version) } = event {
            let [request, version] = self.names([request, version]);
            if let Some(row) = self.put_by_request.get(request) {
                self.shelf_puts[row].version.get_or_insert((mark, version));
            }
        } else if let Event::ShelfRow { item, words, versions } = event {
            let item = self.names.of(item);
            let words = words.as_deref().map(|words| self.names.of(words));
            let versions = versions.iter().map(|version| self.names.of(version)).collect();
            self.shelf_rows.push(ShelfRow { mark, item, words, versions });
        } else if let Event::ShelfLeak { agent, item } = event {
            let (to, item) = (self.about(mark, agent), self.names.of(item));
            self.shelf_leaks.push(ShelfLeak { to, item });
        }
    }

    /// Adds a letter as an event for one agent, or for none if it is forbidden.
    fn take_letter(&mut self, mark: Mark, texts: [&String; 3], (may, asks): (bool, bool)) {
        let [id, to, nonce] = texts;
        let expect = if may { std::slice::from_ref(to) } else { &[] };
        let sent = Sent { bot: NO_BOT, chat: id, nonce, expect, order: None };
        self.take_send(mark, id, &sent);
        let [id, to, nonce] = self.names(texts);
        self.letter_by_id.set(id, self.letters.len());
        self.letters.push(Letter { mark, nonce, to, may, asks });
    }

    fn take_letter_answer(&mut self, mark: Mark, id: &str, (status, reply): (u16, Option<&str>)) {
        let id = self.names.of(id);
        let Some(row) = self.letter_by_id.get(id) else { return };
        let came = match (status, reply) {
            (200..300, Some(reply)) => Came::Replied(self.names.of(reply)),
            (200..300, None) => Came::Taken,
            (NO_REPLY, _) if self.letters[row].asks => Came::NoReply,
            (REFUSED, _) => return self.take_refusal(mark, row),
            _ => return,
        };
        self.is_told(mark, id);
        self.letter_answers.push(LetterAnswer { mark, letter: number(row), came });
    }

    fn take_refusal(&mut self, mark: Mark, row: usize) {
        let Letter { nonce: name, may, .. } = self.letters[row];
        if may {
            self.letters_denied.push(About { mark, name });
        } else {
            self.letters_refused += 1;
        }
    }

    /// Returns the number of accepted letters without a question, and of questions that were answered or timed out.
    pub(crate) fn letters_taken(&self) -> (u64, u64) {
        let taken: BTreeSet<u32> = self.letter_answers.iter().map(|answer| answer.letter).collect();
        let asks = |row: &&u32| self.letters[**row as usize].asks;
        let exchanges = taken.iter().filter(asks).count() as u64;
        (taken.len() as u64 - exchanges, exchanges)
    }

    /// Returns the number of confirmed writes to shelves.
    pub(crate) fn shelved(&self) -> u64 {
        self.shelf_puts.iter().filter(|put| put.version.is_some()).count() as u64
    }
}
