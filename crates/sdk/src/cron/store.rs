//! Store: where a book is kept, so that it outlives the process.

use std::error::Error;

use async_trait::async_trait;

use super::book::Book;
use super::limits::CHANGE_TRIES_MAX;

/// Where a [`Book`] is kept.
///
/// Processes that share a store share their jobs, and each fire runs in one of them. A store that
/// loses a book that it said to have kept lets fires run twice.
#[async_trait]
pub trait Store: Send + Sync {
    /// The book as it stands; the default one if none was ever kept.
    async fn read(&self) -> Result<Book, StoreError>;

    /// Keeps a book, if the one that is kept is of the [version](Book::version) right before. It
    /// is in one piece and for good when this returns `true`. `false`: somebody was quicker.
    async fn replace(&self, book: Book) -> Result<bool, StoreError>;
}

/// The jobs could not be read or kept.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct StoreError {
    what: String,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    /// Says what failed, and why.
    pub fn new(
        what: impl Into<String>,
        source: impl Into<Option<Box<dyn Error + Send + Sync>>>,
    ) -> Self {
        Self { what: what.into(), source: source.into() }
    }
}

/// Changes what is kept; begins anew when somebody else was quicker.
pub(super) async fn change<T>(
    store: &dyn Store,
    change: impl Fn(&mut Book) -> T,
) -> Result<T, StoreError> {
    for _ in 0..CHANGE_TRIES_MAX {
        let (outcome, changed) = store.read().await?.changed(&change);
        let Some(book) = changed else { return Ok(outcome) };
        if store.replace(book).await? {
            return Ok(outcome);
        }
    }
    Err(StoreError::new("others change the jobs all the time", None))
}

#[cfg(test)]
mod tests;
