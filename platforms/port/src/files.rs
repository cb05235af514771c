//! Interface to fetch attachments that only the bot's key can access, and to upload files.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::Bot;

/// A file that a send refers to.
#[derive(Clone)]
pub struct File {
    /// The file's content.
    pub source: Arc<dyn FileSource>,
    /// The file's MIME type.
    pub mime: Option<String>,
    /// The file's name.
    pub filename: Option<String>,
}

nightdesk_types::opaque_debug!(File);

impl File {
    /// Returns the file under the name that a send gives it, if it gives one.
    #[must_use]
    pub fn with_filename(&self, filename: Option<&String>) -> Self {
        let filename = filename.or(self.filename.as_ref()).cloned();
        Self { filename, ..self.clone() }
    }
}

/// Reads the content of a file. A file is never in memory as a whole.
#[async_trait]
pub trait FileSource: Send + Sync {
    /// Begins to read the content, from the start. A call that is repeated reads it again.
    async fn open(&self) -> Result<FileContent, FetchError>;
}

/// The content of a file.
pub struct FileContent {
    /// The exact size, if it is known before the end.
    pub size: Option<u64>,
    /// The bytes.
    pub bytes: FileBytes,
}

nightdesk_types::opaque_debug!(FileContent);

/// The bytes of a file as a stream.
pub type FileBytes = BoxStream<'static, Result<Bytes, Box<dyn Error + Send + Sync>>>;

/// Failures to fetch a file.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The platform does not have the file, or no longer has it.
    #[error("the platform does not have the file")]
    Gone,
    /// The platform could not be reached, or its response was not understood.
    #[error("platform unavailable")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

/// Fetches attachments.
#[async_trait]
pub trait Files: Send + Sync {
    /// Begins to fetch a file by the reference in its message.
    async fn fetch(&self, bot: &Bot, reference: &str) -> Result<FileContent, FetchError>;
}
