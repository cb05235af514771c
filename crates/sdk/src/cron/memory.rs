//! A book in memory, which is lost with its process.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::book::Book;
use super::store::{Store, StoreError};

/// Stores the book in memory: for tests, and for agents that do not stop.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Book>);

#[async_trait]
impl Store for MemoryStore {
    async fn read(&self) -> Result<Book, StoreError> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn replace(&self, book: Book) -> Result<bool, StoreError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_next = kept.version() + 1 == book.version();
        if is_next {
            *kept = book;
        }
        Ok(is_next)
    }
}
