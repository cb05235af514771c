//! Replaces people's attachments by references, and resolves references to files.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use nightdesk_egress::{FileError, FileRequest};
use nightdesk_gate::AdmittedEvent;
use nightdesk_media::{
    ContentKey, Media as MediaStop, MediaContent, MediaId, MediaLocation, MediaRecord,
    MemoryPermit, MemoryRequest, ScopedAgent,
};
use nightdesk_port::{FetchError, File, FileContent, FileSource};
use nightdesk_types::event::{Content, Media};
use nightdesk_types::limits::{
    MEDIA_BYTES_MAX, MEDIA_FETCH_WAIT, MEDIA_PER_EVENT_MAX, MEDIA_SEND_TURN_WAIT,
    MEDIA_STREAM_BYTES_MAX,
};
use nightdesk_types::{BotId, StoreError};
use tokio::time::{Instant, timeout};

use crate::accounts::store_error;
use crate::{Account, Accounts};

fn media_record(bot: BotId, media: &Media) -> MediaRecord {
    let Media { url, mime, size, filename, .. } = media.clone();
    MediaRecord { mime, filename, size, location: MediaLocation::There { bot, reference: url } }
}

/// An error that prevents the delivery of an agent's file.
#[derive(Debug, thiserror::Error)]
pub enum FileReadError {
    /// The lookup in the store failed.
    #[error("the file could not be looked up")]
    Store(#[from] StoreError),
    /// The fetch from the platform failed.
    #[error("the file could not be fetched")]
    Fetch(#[source] Box<dyn Error + Send + Sync>),
}

/// The place from which a file's content is read.
enum FileOrigin {
    /// The desk's store.
    Here { media: Arc<MediaStop>, agent: ScopedAgent, id: MediaId, key: ContentKey },
    /// A platform.
    There { account: Account, reference: String },
}

impl FileOrigin {
    async fn open(&self) -> Result<FileContent, FetchError> {
        let content = match self {
            Self::Here { media, agent, id, key } => {
                let found = media.read_content(*agent, *id, key).await;
                let found = found.map_err(|error| FetchError::Unavailable(error.into()))?;
                let MediaContent { size, bytes } = found.ok_or(FetchError::Gone)?;
                FileContent { size: Some(size), bytes }
            }
            Self::There { account: Account { bot, platform }, reference } => {
                let files = platform.files(bot).ok_or(FetchError::Gone)?;
                let fetched = timeout(MEDIA_FETCH_WAIT, files.fetch(bot, reference)).await;
                fetched.map_err(|late| FetchError::Unavailable(late.into()))??
            }
        };
        Ok(limit_size(content))
    }
}

/// Ends the content with an error if it exceeds the maximum file size.
fn limit_size(content: FileContent) -> FileContent {
    let bounded = content.bytes.scan(0, |came, chunk| {
        *came += chunk.as_ref().map_or(0, Bytes::len);
        let is_over = *came > MEDIA_BYTES_MAX;
        std::future::ready(Some(if is_over { Err("the file is too large".into()) } else { chunk }))
    });
    FileContent { bytes: bounded.boxed(), ..content }
}

/// The file of a send, with the memory for its way to the platform.
struct OutgoingFile {
    origin: FileOrigin,
    _memory: MemoryPermit,
}

#[async_trait]
impl FileSource for OutgoingFile {
    async fn open(&self) -> Result<FileContent, FetchError> {
        self.origin.open().await
    }
}

/// Returns the memory that a file of a send needs. A platform's claim of a size is not relied on.
fn stream_bytes(record: &MediaRecord) -> u64 {
    match (&record.location, record.size) {
        (MediaLocation::Here { .. }, Some(size)) => size.min(MEDIA_STREAM_BYTES_MAX),
        (MediaLocation::Here { .. } | MediaLocation::There { .. }, _) => MEDIA_STREAM_BYTES_MAX,
    }
}

impl Accounts {
    /// Returns the event with references in place of files that can only be fetched with the bot's key, or `None` if it
    /// has no such file.
    pub(crate) async fn with_references(
        &self,
        account: &Account,
        event: &AdmittedEvent,
    ) -> Result<Option<AdmittedEvent>, StoreError> {
        let Content::Message(message) = event.verified().get().content() else { return Ok(None) };
        if message.media.is_empty() || account.platform.files(&account.bot).is_none() {
            return Ok(None);
        }
        let bot = event.verified().bot();
        let files =
            message.media.iter().take(MEDIA_PER_EVENT_MAX).map(|media| media_record(bot, media));
        let agents: Vec<ScopedAgent> =
            event.recipients().iter().map(|one| (one.scope, one.agent)).collect();
        let urls = self.media.register_files(&agents, files.collect()).await?;
        Ok(Some(event.with_media_urls(urls)))
    }

    /// Returns an agent's file with its content, or `None` if it is not the agent's file or no longer exists.
    pub async fn read_file(
        &self,
        agent: ScopedAgent,
        id: MediaId,
    ) -> Result<Option<(MediaRecord, FileContent)>, FileReadError> {
        let Some(record) = self.media.find_record(agent, id).await? else { return Ok(None) };
        let Some(origin) = self.find_origin(agent, id, &record).await? else { return Ok(None) };
        match origin.open().await {
            Ok(content) => Ok(Some((record, content))),
            Err(FetchError::Gone) => Ok(None),
            Err(FetchError::Unavailable(error)) => Err(FileReadError::Fetch(error)),
        }
    }

    /// Returns the origin of a file. `None`: the bot that has access to it no longer exists.
    async fn find_origin(
        &self,
        agent: ScopedAgent,
        id: MediaId,
        record: &MediaRecord,
    ) -> Result<Option<FileOrigin>, StoreError> {
        match &record.location {
            MediaLocation::Here { key } => {
                let (media, key) = (Arc::clone(&self.media), key.clone());
                Ok(Some(FileOrigin::Here { media, agent, id, key }))
            }
            MediaLocation::There { bot, reference } => {
                let account = self.find_by_id(*bot).await.map_err(store_error)?;
                let reference = reference.clone();
                Ok(account.map(|account| FileOrigin::There { account, reference }))
            }
        }
    }

    /// Returns the file that a send refers to, if its URL is one of the desk's references, when there is memory for it.
    pub(crate) async fn resolve_file(
        &self,
        request: &FileRequest<'_>,
    ) -> Result<Option<File>, FileError> {
        let FileRequest { scope, agent, url, until } = *request;
        let Some(id) = MediaId::from_url(url) else { return Ok(None) };
        let unavailable = |error: StoreError| FileError::Unavailable(error.into());
        let record = self.media.find_record((scope, agent), id).await.map_err(unavailable)?;
        let record = record.ok_or(FileError::Gone)?;
        let origin = self.find_origin((scope, agent), id, &record).await.map_err(unavailable)?;
        let origin = origin.ok_or(FileError::Gone)?;
        let memory = MemoryRequest {
            tenant: scope.tenant(),
            bytes: stream_bytes(&record),
            until: until.min(Instant::now() + MEDIA_SEND_TURN_WAIT),
        };
        let memory = self.media.reserve_memory(memory).await.map_err(|_| FileError::Busy)?;
        let source = Arc::new(OutgoingFile { origin, _memory: memory });
        let MediaRecord { mime, filename, .. } = record;
        Ok(Some(File { source, mime, filename }))
    }
}
