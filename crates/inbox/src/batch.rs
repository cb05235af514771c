//! Combines concurrent requests into one statement.
//!
//! While one batch is being committed, the next batch collects by itself. There is no timer, and a single request does
//! not wait for others. If a batch fails, its requests run again one by one, so that a fault of one tenant does not
//! affect fifteen others. Shares take turns, so a busy one gets no more turns than a quiet one.

mod queue;
mod writers;

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use nightdesk_types::StoreError;
use nightdesk_types::limits::{GATHER_MAX, WRITER_QUEUE_MAX};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use crate::sync::{Mutex, MutexGuard};
use queue::FairQueue;
pub use writers::Writers;

/// Work that can be executed for several requests at once.
#[async_trait]
pub trait Batch: Send + Sync + 'static {
    /// The request.
    type Ask: Send + Sync;
    /// The response.
    type Answer: Send;
    /// A key that two requests of one batch must not share.
    type Key: Eq + Hash + Send;
    /// A key of requests that must stay in order. After a failure, requests of the same stream that were queued before
    /// the caller could know of the failure are refused.
    type Stream: Eq + Hash + Send;
    /// The owner of a request for fair turns. All requests of a stream have the same share.
    type WriterShare: Clone + Eq + Hash + Send;

    /// Answers all requests, or none.
    async fn run(&self, asks: &[Self::Ask]) -> Result<Vec<Self::Answer>, StoreError>;

    /// Returns the key that no other request of the batch may share.
    fn key(ask: &Self::Ask) -> Self::Key;

    /// Returns the stream of the request, if its order counts.
    fn stream(_ask: &Self::Ask) -> Option<Self::Stream> {
        None
    }

    /// Returns the share of the request.
    fn share(ask: &Self::Ask) -> Self::WriterShare;

    /// Returns true if the response means that the request was not executed, so that later ones of its stream must
    /// fail.
    fn holds_back(_answer: &Self::Answer) -> bool {
        false
    }
}

type ResponseSender<B> = oneshot::Sender<Result<<B as Batch>::Answer, StoreError>>;
type QueuedRequest<B> = (<B as Batch>::Ask, ResponseSender<B>);
type ResponseReceiver<B> = oneshot::Receiver<Result<<B as Batch>::Answer, StoreError>>;
type RequestQueue<B> = Mutex<FairQueue<<B as Batch>::WriterShare, QueuedRequest<B>>>;

/// The requesting end.
pub struct BatchQueue<B: Batch> {
    queue: Arc<RequestQueue<B>>,
    /// Signals that a request waits. When it is dropped, no further requests come.
    rung: mpsc::Sender<()>,
    operation: &'static str,
}

impl<B: Batch> std::fmt::Debug for BatchQueue<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gather({})", self.operation)
    }
}

impl<B: Batch> BatchQueue<B> {
    /// Starts a worker, and returns its queue. The worker ends when the queue is dropped.
    pub fn start(batch: B, operation: &'static str, tasks: &TaskTracker) -> Self {
        let (gather, work) = Self::new(batch, operation);
        tasks.spawn(work);
        gather
    }

    /// Creates a queue, and the worker that empties it until the queue is dropped.
    pub(crate) fn new(batch: B, operation: &'static str) -> (Self, impl Future<Output = ()>) {
        let (rung, bell) = mpsc::channel(1);
        let queue = Arc::new(Mutex::new(FairQueue::new(WRITER_QUEUE_MAX)));
        let work = run_worker(batch, BatchWorker { bell, queue: Arc::clone(&queue) }, operation);
        (Self { queue, rung, operation }, work)
    }

    /// Queues a request. The response comes when its batch has been committed.
    ///
    /// If the queue is full, the response is a retryable error.
    pub fn send_request(
        &self,
        ask: B::Ask,
    ) -> impl Future<Output = Result<B::Answer, StoreError>> + use<B> {
        let queued = queue_request::<B>(&mut lock(&self.queue), ask);
        self.await_response(queued)
    }

    /// Queues requests in order. If one finds no room, all later ones fail too.
    pub fn send_in_order(
        &self,
        asks: Vec<B::Ask>,
    ) -> Vec<impl Future<Output = Result<B::Answer, StoreError>> + use<B>> {
        let queued: Vec<_> = {
            // The lock prevents a worker from making room in between.
            let mut queue = lock(&self.queue);
            asks.into_iter().map(|ask| queue_request::<B>(&mut queue, ask)).collect()
        };
        queued.into_iter().map(|queued| self.await_response(queued)).collect()
    }

    fn await_response(
        &self,
        queued: Option<ResponseReceiver<B>>,
    ) -> impl Future<Output = Result<B::Answer, StoreError>> + use<B> {
        let operation = self.operation;
        // A full channel already signals.
        let is_gone = matches!(self.rung.try_send(()), Err(TrySendError::Closed(())));
        async move {
            let Some(answer) = queued else {
                return Err(StoreError::unavailable(operation, "too many requests are waiting"));
            };
            let gone = || StoreError::unavailable(operation, "the writer has stopped");
            if is_gone { Err(gone()) } else { answer.await.map_err(|_| gone())? }
        }
    }
}

/// Queues a request, if there is room.
fn queue_request<B: Batch>(
    queue: &mut FairQueue<B::WriterShare, QueuedRequest<B>>,
    ask: B::Ask,
) -> Option<ResponseReceiver<B>> {
    let (reply, answer) = oneshot::channel();
    queue.push(B::share(&ask), (ask, reply)).is_ok().then_some(answer)
}

fn lock<T>(queue: &Mutex<T>) -> MutexGuard<'_, T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The worker's end. When it is dropped, also by a panic, all waiting requests end.
struct BatchWorker<B: Batch> {
    bell: mpsc::Receiver<()>,
    queue: Arc<RequestQueue<B>>,
}

impl<B: Batch> Drop for BatchWorker<B> {
    fn drop(&mut self) {
        // Later requests fail at once; earlier ones lose their reply channel.
        self.bell.close();
        drop(lock(&self.queue).remove_matching(|_| true));
    }
}

async fn run_worker<B: Batch>(batch: B, mut asked: BatchWorker<B>, operation: &'static str) {
    loop {
        let (asks, replies) = take_batch::<B>(&asked.queue);
        if asks.is_empty() {
            match asked.bell.recv().await {
                Some(()) => continue,
                None => return,
            }
        }
        let broken = run_together(&batch, asks, replies, operation).await;
        if !broken.is_empty() {
            refuse_broken::<B>(&asked.queue, &broken, operation);
        }
    }
}

/// Refuses the queued requests of broken streams and leaves the others in the queue.
fn refuse_broken<B: Batch>(
    queue: &RequestQueue<B>,
    broken: &HashSet<B::Stream>,
    operation: &'static str,
) {
    let is_broken =
        |(ask, _): &QueuedRequest<B>| B::stream(ask).is_some_and(|of| broken.contains(&of));
    for (_, reply) in lock(queue).remove_matching(is_broken) {
        send_response(reply, Err(StoreError::unavailable(operation, "an earlier request failed")));
    }
}

/// Returns requests that can run together. One that clashes with an earlier one begins the next batch.
fn take_batch<B: Batch>(queue: &RequestQueue<B>) -> (Vec<B::Ask>, Vec<ResponseSender<B>>) {
    let mut queue = lock(queue);
    let (mut keys, mut asks, mut replies) = (HashSet::new(), Vec::new(), Vec::new());
    while asks.len() < GATHER_MAX {
        let Some((whose, (ask, reply))) = queue.pop() else { break };
        if !keys.insert(B::key(&ask)) {
            queue.give_back(whose, (ask, reply));
            break;
        }
        asks.push(ask);
        replies.push(reply);
    }
    (asks, replies)
}

/// Returns the broken streams.
async fn run_together<B: Batch>(
    batch: &B,
    asks: Vec<B::Ask>,
    mut replies: Vec<ResponseSender<B>>,
    operation: &'static str,
) -> HashSet<B::Stream> {
    match batch.run(&asks).await {
        Ok(answers) if answers.len() == asks.len() => {
            let broken = held_back_streams::<B>(&asks, &answers);
            for (reply, answer) in replies.into_iter().zip(answers) {
                send_response(reply, Ok(answer));
            }
            return broken;
        }
        Ok(_) => {
            for reply in replies {
                send_response(reply, Err(StoreError::broken(operation, "a result is missing")));
            }
        }
        Err(error) if asks.len() == 1 => {
            if let Some(reply) = replies.pop() {
                send_response(reply, Err(error));
            }
            return asks.iter().filter_map(B::stream).collect();
        }
        Err(_) => return run_apart(batch, asks, replies, operation).await,
    }
    HashSet::new()
}

/// Returns the streams whose later requests must fail.
fn held_back_streams<B: Batch>(asks: &[B::Ask], answers: &[B::Answer]) -> HashSet<B::Stream> {
    let is_held = |(_, answer): &(&B::Ask, &B::Answer)| B::holds_back(answer);
    let held = asks.iter().zip(answers).filter(is_held);
    held.filter_map(|(ask, _)| B::stream(ask)).collect()
}

/// Returns the broken streams.
async fn run_apart<B: Batch>(
    batch: &B,
    asks: Vec<B::Ask>,
    replies: Vec<ResponseSender<B>>,
    operation: &'static str,
) -> HashSet<B::Stream> {
    let mut broken_streams = HashSet::new();
    for (ask, reply) in asks.into_iter().zip(replies) {
        let stream = B::stream(&ask);
        if stream.as_ref().is_some_and(|stream| broken_streams.contains(stream)) {
            send_response(
                reply,
                Err(StoreError::unavailable(operation, "an earlier request failed")),
            );
            continue;
        }
        let answer = batch.run(std::slice::from_ref(&ask)).await.and_then(|mut answers| {
            answers.pop().ok_or_else(|| StoreError::broken(operation, "a result is missing"))
        });
        if answer.as_ref().map_or(true, B::holds_back) {
            broken_streams.extend(stream);
        }
        send_response(reply, answer);
    }
    broken_streams
}

fn send_response<T>(reply: oneshot::Sender<T>, answer: T) {
    // The requester may be gone; the work is done all the same.
    drop(reply.send(answer));
}

#[cfg(test)]
mod tests;
