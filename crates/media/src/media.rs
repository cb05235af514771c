//! The media stop: accepts uploads, registers references, and serves files.

use std::error::Error;
use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, pin_mut};
use nightdesk_types::limits::{
    MEDIA_BYTES_MAX, MEDIA_KEPT, MEDIA_REFERRED, MEDIA_SWEPT_MAX, MEDIA_TENANT_BYTES_MAX,
};
use nightdesk_types::{Clock, StoreError, TenantScope};
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};

use crate::content::{ContentSealer, open_content, opened_size};
use crate::memory_budget::{MemoryBudget, MemoryBusy, MemoryPermit, MemoryRequest};
use crate::object_path::{is_object_path, object_path, tenant_path, uploads_path};
use crate::{
    ContentKey, MediaId, MediaLocation, MediaPlace, MediaRecord, Metrics, ScopedAgent, Store,
};

/// The bytes of a file, as they arrive.
pub type MediaStream = BoxStream<'static, Result<Bytes, Box<dyn Error + Send + Sync>>>;

/// The content of a file in the desk's store.
pub struct MediaContent {
    /// The exact size.
    pub size: u64,
    /// The bytes.
    pub bytes: MediaStream,
}

nightdesk_types::opaque_debug!(MediaContent);

/// The type and the name that an agent gives to its upload.
#[derive(Clone, Debug, Default)]
pub struct UploadLabel {
    /// The media type.
    pub mime: Option<String>,
    /// The file's name.
    pub filename: Option<String>,
}

/// The reason that a file was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is too large.
    #[error("the file is larger than {} MiB", MEDIA_BYTES_MAX / (1024 * 1024))]
    TooLarge,
    /// The tenant's files are too large together.
    #[error("the tenant's files exceed their limit; each is removed after an hour")]
    Full,
    /// The upload broke off.
    #[error("the upload broke off")]
    BrokeOff(#[source] Box<dyn Error + Send + Sync>),
    /// The file could not be stored.
    #[error("the file could not be stored")]
    Store(#[from] StoreError),
}

/// Accepts, registers and serves files.
pub struct Media {
    store: Arc<dyn Store>,
    objects: MediaPlace,
    desk_url: String,
    clock: Arc<dyn Clock>,
    memory: MemoryBudget,
}

nightdesk_types::opaque_debug!(Media);

impl Media {
    /// Creates the stop over this store and these objects, for a desk at this URL.
    pub fn new(
        store: Arc<dyn Store>,
        objects: MediaPlace,
        desk_url: impl Into<String>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let memory = MemoryBudget::default();
        Self { store, objects, desk_url: desk_url.into(), clock, memory }
    }

    /// Returns the metrics.
    pub const fn metrics(&self) -> &Metrics {
        self.memory.metrics()
    }

    /// Waits for the memory that a file needs on its way through this node.
    pub async fn reserve_memory(&self, request: MemoryRequest) -> Result<MemoryPermit, MemoryBusy> {
        self.memory.reserve(request).await
    }

    /// Stores a file that an agent will send, and that fits into the reserved memory. Only that agent can read it.
    /// Returns its id and its size.
    pub async fn store_upload<E: Into<Box<dyn Error + Send + Sync>>>(
        &self,
        agent: ScopedAgent,
        label: UploadLabel,
        bytes: impl futures_util::Stream<Item = Result<Bytes, E>> + Send,
        memory: &MemoryPermit,
    ) -> Result<(MediaId, u64), UploadError> {
        let (scope, agent) = agent;
        let (id, key) = (MediaId::new(), ContentKey::random());
        let (sealed, size) = read_sealed(bytes, memory, ContentSealer::new(&key, id)).await?;
        if self.stored_bytes(scope).await? + size > MEDIA_TENANT_BYTES_MAX {
            return Err(UploadError::Full);
        }
        self.objects
            .put(&object_path(scope, id), PutPayload::from_iter(sealed))
            .await
            .map_err(store_error("put a file"))?;
        let UploadLabel { mime, filename } = label;
        let kept =
            MediaRecord { mime, filename, size: Some(size), location: MediaLocation::Here { key } };
        self.store.permit_read(scope, agent, &[(id, kept)], MEDIA_KEPT).await?;
        Ok((id, size))
    }

    /// Registers a platform's files for agents. Returns the URLs in the same order; they are the same for all of the
    /// agents.
    pub async fn register_files(
        &self,
        agents: &[ScopedAgent],
        files: Vec<MediaRecord>,
    ) -> Result<Vec<String>, StoreError> {
        let files: Vec<(MediaId, MediaRecord)> =
            files.into_iter().map(|kept| (MediaId::new(), kept)).collect();
        for &(scope, agent) in agents {
            self.store.permit_read(scope, agent, &files, MEDIA_REFERRED).await?;
        }
        Ok(files.iter().map(|(id, _)| id.url(&self.desk_url)).collect())
    }

    /// Returns a file's record, if this agent may read it.
    pub async fn find_record(
        &self,
        agent: ScopedAgent,
        id: MediaId,
    ) -> Result<Option<MediaRecord>, StoreError> {
        let (scope, agent) = agent;
        self.store.find_record(scope, agent, id).await
    }

    /// Returns the content of a file in the desk's store, which the key of its record opens.
    pub async fn read_content(
        &self,
        agent: ScopedAgent,
        id: MediaId,
        key: &ContentKey,
    ) -> Result<Option<MediaContent>, StoreError> {
        match self.objects.get(&object_path(agent.0, id)).await {
            Ok(found) => {
                let stored_bytes = found.meta.size;
                let bytes = open_content(key, id, stored_bytes, found.into_stream());
                Ok(Some(MediaContent { size: opened_size(stored_bytes), bytes }))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(store_error("read a file")(error)),
        }
    }

    /// Removes expired files, up to a maximum. Any node may do it. A file that the desk did not write is left alone.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let kept_secs = i64::try_from(MEDIA_KEPT.as_secs()).unwrap_or(i64::MAX);
        let before = self.clock.now().as_second() - kept_secs;
        let old = self.objects.list(Some(&uploads_path())).try_filter(|object| {
            let is_old = object.last_modified.timestamp() < before;
            ready(is_old && is_object_path(&object.location))
        });
        let old = old.take(MEDIA_SWEPT_MAX).map_ok(|object| object.location);
        let old: Vec<Path> = old.try_collect().await.map_err(store_error("list files"))?;
        for place in &old {
            match self.objects.delete(place).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(store_error("remove a file")(error)),
            }
        }
        Ok(old.len())
    }

    /// Returns the total size of a tenant's files.
    async fn stored_bytes(&self, scope: TenantScope) -> Result<u64, StoreError> {
        let sizes = self.objects.list(Some(&tenant_path(scope))).map_ok(|object| object.size);
        sizes
            .try_fold(0, |sum, size| ready(Ok(sum + size)))
            .await
            .map_err(store_error("list files"))
    }
}

fn store_error(what: &'static str) -> impl Fn(object_store::Error) -> StoreError {
    move |error| StoreError::unavailable(what, error)
}

/// Reads a whole file, if it is not too large, and seals it as it arrives, so that it is in memory once. Returns its
/// sealed chunks and its size.
async fn read_sealed<E: Into<Box<dyn Error + Send + Sync>>>(
    bytes: impl futures_util::Stream<Item = Result<Bytes, E>>,
    memory: &MemoryPermit,
    mut sealer: ContentSealer,
) -> Result<(Vec<Bytes>, u64), UploadError> {
    pin_mut!(bytes);
    let bytes_max = memory.bytes().min(MEDIA_BYTES_MAX as u64);
    let mut size = 0;
    while let Some(piece) = bytes.next().await {
        let piece = piece.map_err(|error| UploadError::BrokeOff(error.into()))?;
        size += piece.len() as u64;
        if size > bytes_max {
            return Err(UploadError::TooLarge);
        }
        sealer.add(&piece);
    }
    if size == 0 { Err(UploadError::Empty) } else { Ok((sealer.finish(), size)) }
}
