//! Eyes: whether a person can see a place, on platforms where that differs.

use nightdesk_types::Sight;
use nightdesk_types::event::Source;

use crate::Bot;

/// Knows who can see what. It answers at once, from what the platform has told.
pub trait Eyes: Send + Sync {
    /// Whether a person can see where an event was written.
    fn sight(&self, bot: &Bot, source: &Source, person: &str) -> Sight;
}
