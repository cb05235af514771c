//! Implements the store of files by reference.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;
use nightdesk_media::{Agent, Kept, Media, MediaId, Store};
use nightdesk_types::{StoreError, SystemClock, Timestamp};
use object_store::memory::InMemory;

use super::Memory;

/// A file, until it expires.
pub(super) struct FileRow {
    kept: Kept,
    expires_at: Timestamp,
}

/// Returns a file storage in memory.
pub fn media(store: Arc<dyn Store>, desk_url: &str) -> Arc<Media> {
    let clock = Arc::new(SystemClock::started());
    Arc::new(Media::over(store, Arc::new(InMemory::new()), desk_url, clock))
}

#[async_trait]
impl Store for Memory {
    async fn keep(
        &self,
        agent: Agent,
        files: &[(MediaId, Kept)],
        good_for: Duration,
    ) -> Result<(), StoreError> {
        let good_for = SignedDuration::try_from(good_for).unwrap_or(SignedDuration::MAX);
        let expires_at = self.now().saturating_add(good_for).unwrap_or(Timestamp::MAX);
        let mut state = self.lock();
        for (id, kept) in files {
            state.media.insert((agent, *id), FileRow { kept: kept.clone(), expires_at });
        }
        Ok(())
    }

    async fn find(&self, agent: Agent, id: MediaId) -> Result<Option<Kept>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let row = state.media.get(&(agent, id)).filter(|row| row.expires_at > now);
        Ok(row.map(|row| row.kept.clone()))
    }
}
