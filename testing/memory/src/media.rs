//! Implements the store of files by reference.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;
use nightdesk_media::{Media, MediaId, MediaRecord, Store};
use nightdesk_types::{AgentId, StoreError, SystemClock, TenantScope, Timestamp};
use object_store::memory::InMemory;

use super::Memory;

/// A file, until it expires.
pub(super) struct FileRow {
    kept: MediaRecord,
    expires_at: Timestamp,
}

/// Returns a file storage in memory.
pub fn media(store: Arc<dyn Store>, desk_url: &str) -> Arc<Media> {
    let clock = Arc::new(SystemClock::start());
    Arc::new(Media::new(store, Arc::new(InMemory::new()), desk_url, clock))
}

#[async_trait]
impl Store for Memory {
    async fn permit_read(
        &self,
        scope: TenantScope,
        agent: AgentId,
        files: &[(MediaId, MediaRecord)],
        good_for: Duration,
    ) -> Result<(), StoreError> {
        let good_for = SignedDuration::try_from(good_for).unwrap_or(SignedDuration::MAX);
        let expires_at = self.now().saturating_add(good_for).unwrap_or(Timestamp::MAX);
        let mut state = self.lock();
        for (id, kept) in files {
            let row = FileRow { kept: kept.clone(), expires_at };
            state.media.insert(((scope, agent), *id), row);
        }
        Ok(())
    }

    async fn find_record(
        &self,
        scope: TenantScope,
        agent: AgentId,
        id: MediaId,
    ) -> Result<Option<MediaRecord>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let row = state.media.get(&((scope, agent), id)).filter(|row| row.expires_at > now);
        Ok(row.map(|row| row.kept.clone()))
    }
}
