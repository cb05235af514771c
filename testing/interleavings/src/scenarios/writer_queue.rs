//! Requests that a writer gathers into batches.

use std::sync::Arc;

use async_trait::async_trait;
use loom::thread;
use nightdesk_types::StoreError;

use crate::inbox::batch::{Batch, BatchQueue};
use crate::{block_on, explore};

/// Answers each request with its double.
struct DoublingBatch;

#[async_trait]
impl Batch for DoublingBatch {
    type Ask = u32;
    type Answer = u32;
    type Key = u32;
    type Stream = u32;
    type WriterShare = u32;

    async fn run(&self, asks: &[u32]) -> Result<Vec<u32>, StoreError> {
        Ok(asks.iter().map(|ask| 2 * ask).collect())
    }

    fn key(ask: &u32) -> u32 {
        *ask
    }

    fn share(ask: &u32) -> u32 {
        *ask
    }
}

/// Two threads request while the writer works or sleeps: each gets its own response, and the writer ends with the queue.
pub fn each_request_gets_its_response() {
    explore(|| {
        let (queue, work) = BatchQueue::new(DoublingBatch, "double");
        let (queue, writer) = (Arc::new(queue), thread::spawn(move || block_on(work)));
        let threads = [1, 2].map(|ask| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || block_on(queue.send_request(ask)).ok())
        });
        let [one, two] = threads.map(|thread| thread.join().ok().flatten());
        assert_eq!((one, two), (Some(2), Some(4)));
        drop(queue);
        assert!(writer.join().is_ok(), "the writer ends");
    });
}

/// A request comes while the writer is dropped: it fails, and does not wait for ever.
pub fn a_request_to_a_writer_that_stops_ends() {
    explore(|| {
        let (queue, work) = BatchQueue::new(DoublingBatch, "double");
        let stopping = thread::spawn(move || drop(work));
        let response = block_on(queue.send_request(1));
        assert!(response.is_err(), "no writer answered");
        assert!(stopping.join().is_ok());
    });
}
