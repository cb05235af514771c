//! Interface that reports if a person can see a channel, on platforms where that differs per person.

use async_trait::async_trait;
use nightdesk_types::Visibility;
use nightdesk_types::event::Source;

use crate::Bot;

/// Visibility of channels for persons. Answers come at once, from data that the platform has sent.
#[async_trait]
pub trait VisibilitySource: Send + Sync {
    /// Returns whether a person can see the channel of an event.
    fn visibility_of(&self, bot: &Bot, source: &Source, person: &str) -> Visibility;

    /// Requests the missing data about a person from the platform. Afterwards [`VisibilitySource::visibility_of`] reports if the data is
    /// known.
    async fn fetch_missing(&self, _bot: &Bot, _source: &Source, _person: &str) {}
}
