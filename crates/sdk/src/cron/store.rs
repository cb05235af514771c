//! The store of a book, which outlives the process.

use std::error::Error;

use async_trait::async_trait;

use super::book::Book;
use super::limits::CHANGE_TRIES_MAX;

/// Stores a [`Book`].
///
/// Processes that share a store share their jobs, and each fire runs in one of them. If a store loses a book after it
/// confirmed it, fires may run twice.
#[async_trait]
pub trait Store: Send + Sync {
    /// Returns the current book; the default one if none was stored.
    async fn read(&self) -> Result<Book, StoreError>;

    /// Stores a book if the current one has the [version](Book::version) directly before it. When this returns `true`,
    /// the replacement is atomic and durable. `false`: another change was faster.
    async fn replace(&self, book: Book) -> Result<bool, StoreError>;
}

/// The jobs could not be read or stored.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct StoreError {
    what: String,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    /// Creates an error with its operation and its cause.
    pub fn new(
        what: impl Into<String>,
        source: impl Into<Option<Box<dyn Error + Send + Sync>>>,
    ) -> Self {
        Self { what: what.into(), source: source.into() }
    }
}

/// Changes the stored book; retries if another change was faster.
pub(super) async fn change<T>(
    store: &dyn Store,
    change: impl Fn(&mut Book) -> T,
) -> Result<T, StoreError> {
    for _ in 0..CHANGE_TRIES_MAX {
        let (outcome, changed) = store.read().await?.with_change(&change);
        let Some(book) = changed else { return Ok(outcome) };
        if store.replace(book).await? {
            return Ok(outcome);
        }
    }
    Err(StoreError::new("other processes change the jobs too often", None))
}

#[cfg(test)]
mod tests;
