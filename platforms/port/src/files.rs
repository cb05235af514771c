//! Interface to fetch attachments that only the bot's key can access.

use std::error::Error;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::Bot;

/// A file in memory.
#[derive(Clone, Debug)]
pub struct File {
    /// The file's content.
    pub bytes: Bytes,
    /// The file's MIME type.
    pub mime: Option<String>,
    /// The file's name.
    pub filename: Option<String>,
}

impl File {
    /// Returns the file under the name that a send gives it, if it gives one.
    #[must_use]
    pub fn with_filename(&self, filename: Option<&String>) -> Self {
        let filename = filename.or(self.filename.as_ref()).cloned();
        Self { filename, ..self.clone() }
    }
}

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
    async fn fetch(&self, bot: &Bot, reference: &str) -> Result<FileBytes, FetchError>;
}
