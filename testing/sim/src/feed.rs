//! A source with its own position, like a platform's socket or poll.
//!
//! A reader that reports its position gets the following events, and the events before it count as accepted: they are
//! never sent again.

mod reader;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nightdesk_judge::Event;
use serde_json::json;

use crate::cast::BOT;
use crate::notes::Notes;
use crate::plan::Plan;
use crate::platform::chat_of;
use crate::time;
use crate::world::World;

pub use reader::read;

/// Maximum events per read.
const PAGE_MAX: usize = 8;

/// An event of the feed.
#[derive(Clone, Copy, Debug)]
pub struct Fed {
    /// The time.
    pub at: Duration,
    /// Index of the agent in the cast.
    pub to: usize,
}

/// The state of the feed.
#[derive(Debug)]
pub struct Feed {
    notes: Notes,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Number of events that were published so far.
    said: usize,
    /// Number of events that were accepted.
    taken: usize,
}

/// An event for a reader: its position and its body.
type Told = (usize, Vec<u8>);

/// Returns the name of an event.
pub fn nonce(number: usize) -> String {
    format!("f{number}")
}

impl Feed {
    /// Creates a feed that has not been read.
    pub fn new(notes: Notes) -> Self {
        Self { notes, known: Mutex::default() }
    }

    /// Returns the events after a position, and counts those before it as accepted.
    fn after(&self, world: &World, read: usize) -> Vec<Told> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = time::elapsed();
        let feed = &world.plan.feed;
        while feed.get(known.said).is_some_and(|fed| fed.at <= now) {
            known.said += 1;
            self.notes.note(said(world, known.said, feed[known.said - 1]));
        }
        while known.taken < read.min(known.said) {
            known.taken += 1;
            self.notes.note(Event::PlatAck { id: nonce(known.taken), attempt: 1, status: 200 });
            world.told();
        }
        let told = (read..known.said).take(PAGE_MAX);
        told.map(|before| (before + 1, body(world, before + 1, feed[before]))).collect()
    }
}

fn said(world: &World, number: usize, fed: Fed) -> Event {
    let to = &world.cast.agents[fed.to];
    Event::PlatSend {
        id: nonce(number),
        bot: BOT.0.to_owned(),
        chat: chat_of(&to.author),
        user: to.author.clone(),
        nonce: nonce(number),
        expect: vec![to.name.clone()],
        order: u64::try_from(number).ok(),
    }
}

fn body(world: &World, number: usize, fed: Fed) -> Vec<u8> {
    let author = &world.cast.agents[fed.to].author;
    let source = json!({ "chat_id": chat_of(author), "user_id": author });
    let event = json!({ "text": nonce(number), "source": source });
    json!({ "id": nonce(number), "event": event }).to_string().into_bytes()
}

impl Plan {
    /// Returns the events of the feed, each with its name.
    pub fn fed(&self) -> impl Iterator<Item = (String, Fed)> {
        self.feed.iter().enumerate().map(|(before, fed)| (nonce(before + 1), *fed))
    }
}
