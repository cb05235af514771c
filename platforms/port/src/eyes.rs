//! Eyes: whether a person can see a place, on platforms where that differs.

use async_trait::async_trait;
use nightdesk_types::Sight;
use nightdesk_types::event::Source;

use crate::Bot;

/// Knows who can see what. It answers at once, from what the platform has told.
#[async_trait]
pub trait Eyes: Send + Sync {
    /// Whether a person can see where an event was written.
    fn sight(&self, bot: &Bot, source: &Source, person: &str) -> Sight;

    /// Asks the platform for what is not known of a person there. Whether it is known now, [`Eyes::sight`]
    /// says.
    async fn learn(&self, _bot: &Bot, _source: &Source, _person: &str) {}
}
