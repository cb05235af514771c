//! Files: what people attach, where only the bot's key leads to it.

use std::error::Error;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::Bot;

/// A file that we have.
#[derive(Clone, Debug)]
pub struct File {
    /// Its bytes.
    pub bytes: Bytes,
    /// What it is.
    pub mime: Option<String>,
    /// What it is called.
    pub filename: Option<String>,
}

/// The bytes of a file, as they come.
pub type FileBytes = BoxStream<'static, Result<Bytes, Box<dyn Error + Send + Sync>>>;

/// Why a file did not come.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The platform does not have it, or not any more.
    #[error("the platform does not have the file")]
    Gone,
    /// It was not reached, or its answer was not understood.
    #[error("platform unavailable")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

/// Fetches what people attached.
#[async_trait]
pub trait Files: Send + Sync {
    /// Begins to fetch a file, by the address that its message has.
    async fn fetch(&self, bot: &Bot, reference: &str) -> Result<FileBytes, FetchError>;
}
