//! The feed: a source with a memory of its own, as a platform's socket or poll is one.
//!
//! Whoever says up to where it has read is told what follows, and what it has read is taken: it is
//! never told again.

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

/// Events it tells at a time.
const PAGE_MAX: usize = 8;

/// Something that is said in the feed.
#[derive(Clone, Copy, Debug)]
pub struct Fed {
    /// When.
    pub at: Duration,
    /// To which agent of the cast.
    pub to: usize,
}

/// What the feed knows.
#[derive(Debug)]
pub struct Feed {
    notes: Notes,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// How many events were said so far,
    said: usize,
    /// and how many of them are taken.
    taken: usize,
}

/// An event as a reader is told it: its place, and what stands there.
type Told = (usize, Vec<u8>);

/// What an event is called.
pub fn nonce(number: usize) -> String {
    format!("f{number}")
}

impl Feed {
    /// A feed that nobody has read.
    pub fn new(notes: Notes) -> Self {
        Self { notes, known: Mutex::default() }
    }

    /// What follows after so many events, which are taken.
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
    /// What is said in the feed, each with its name.
    pub fn fed(&self) -> impl Iterator<Item = (String, Fed)> {
        self.feed.iter().enumerate().map(|(before, fed)| (nonce(before + 1), *fed))
    }
}
