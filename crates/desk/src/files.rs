//! Replaces people's attachments by references, and resolves references to files.

use std::error::Error;

use bytes::Bytes;
use futures_util::StreamExt;
use nightdesk_egress::{FileError, FileRequest};
use nightdesk_gate::AdmittedEvent;
use nightdesk_media::{MediaId, MediaLocation, MediaRecord, MediaStream, ScopedAgent, read_whole};
use nightdesk_port::{FetchError, File};
use nightdesk_types::event::{Content, Media};
use nightdesk_types::limits::{
    MEDIA_BYTES_MAX, MEDIA_FETCH_WAIT, MEDIA_PER_EVENT_MAX, MEDIA_TAKE_WAIT,
};
use nightdesk_types::{BotId, StoreError};
use tokio::time::timeout;

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

/// Ends a stream with an error if it exceeds the maximum file size.
fn limit_size(bytes: MediaStream) -> MediaStream {
    let bounded = bytes.scan(0, |came, chunk| {
        *came += chunk.as_ref().map_or(0, Bytes::len);
        let is_over = *came > MEDIA_BYTES_MAX;
        std::future::ready(Some(if is_over { Err("the file is too large".into()) } else { chunk }))
    });
    bounded.boxed()
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

    /// Returns an agent's file with its bytes, or `None` if it is not the agent's file or no longer exists.
    pub async fn read_file(
        &self,
        agent: ScopedAgent,
        id: MediaId,
    ) -> Result<Option<(MediaRecord, MediaStream)>, FileReadError> {
        let Some(kept) = self.media.find_record(agent, id).await? else { return Ok(None) };
        let bytes = match &kept.location {
            MediaLocation::Here => self.media.read_bytes(agent, id).await?,
            MediaLocation::There { bot, reference } => self.fetch_bytes(*bot, reference).await?,
        };
        Ok(bytes.map(|bytes| (kept, bytes)))
    }

    async fn fetch_bytes(
        &self,
        bot: BotId,
        reference: &str,
    ) -> Result<Option<MediaStream>, FileReadError> {
        let Some(account) = self.find_by_id(bot).await.map_err(store_error)? else {
            return Ok(None);
        };
        let Some(files) = account.platform.files(&account.bot) else { return Ok(None) };
        match timeout(MEDIA_FETCH_WAIT, files.fetch(&account.bot, reference)).await {
            Ok(Ok(bytes)) => Ok(Some(limit_size(bytes))),
            Ok(Err(FetchError::Gone)) => Ok(None),
            Ok(Err(error @ FetchError::Unavailable(_))) => Err(FileReadError::Fetch(error.into())),
            Err(late) => Err(FileReadError::Fetch(late.into())),
        }
    }

    /// Returns the whole file that a send refers to, if its URL is one of the desk's references.
    pub(crate) async fn resolve_file(
        &self,
        spoken: &FileRequest<'_>,
    ) -> Result<Option<File>, FileError> {
        let FileRequest { scope, agent, url } = *spoken;
        let Some(id) = MediaId::from_url(url) else { return Ok(None) };
        let given = self.read_file((scope, agent), id).await;
        let given = given.map_err(|error| FileError::Unavailable(error.into()))?;
        let (MediaRecord { mime, filename, .. }, bytes) = given.ok_or(FileError::Gone)?;
        let bytes = timeout(MEDIA_TAKE_WAIT, read_whole(bytes)).await;
        let bytes = bytes.map_err(|late| FileError::Unavailable(late.into()))?;
        let bytes = bytes.map_err(|error| FileError::Unavailable(error.into()))?;
        Ok(Some(File { bytes, mime, filename }))
    }
}
