//! Gather: concurrent asks become one statement.
//!
//! While one batch is being committed, the next gathers by itself: there is no timer, and a
//! lone ask waits for nobody. When a batch fails its asks are run again one by one, so that
//! one tenant's trouble is not fifteen others'.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

use async_trait::async_trait;
use nightdesk_types::StoreError;
use nightdesk_types::limits::{GATHER_MAX, WRITER_QUEUE_MAX};
use tokio::sync::{mpsc, oneshot};

/// Work that can be done for several at once.
#[async_trait]
pub(crate) trait Batch: Send + Sync + 'static {
    /// What is asked for.
    type Ask: Send + Sync;
    /// What is answered.
    type Answer: Send;
    /// What two asks of one batch must not share.
    type Key: Eq + Hash + Send;
    /// What must stay in order: after a failure nothing of the same stream is run that was asked
    /// for before whoever asks could know of it.
    type Stream: Eq + Hash + Send;

    /// Answers every ask, or none.
    async fn run(&self, asks: &[Self::Ask]) -> Result<Vec<Self::Answer>, StoreError>;

    /// What no other ask of the batch may share.
    fn key(ask: &Self::Ask) -> Self::Key;

    /// The stream the ask belongs to, if its order counts.
    fn stream(ask: &Self::Ask) -> Option<Self::Stream>;
}

type Reply<B> = oneshot::Sender<Result<<B as Batch>::Answer, StoreError>>;
type Waiting<B> = (<B as Batch>::Ask, Reply<B>);

/// The asking end.
pub(crate) struct Gather<B: Batch> {
    queue: mpsc::Sender<Waiting<B>>,
    operation: &'static str,
}

impl<B: Batch> Gather<B> {
    /// A queue, and the worker that empties it for as long as somebody may ask.
    pub(crate) fn new(batch: B, operation: &'static str) -> (Self, impl Future<Output = ()>) {
        let (queue, asked) = mpsc::channel(WRITER_QUEUE_MAX);
        (Self { queue, operation }, work(batch, asked, operation))
    }

    /// Queues an ask; the answer comes when its batch has been committed.
    ///
    /// A full queue is an answer too: come again.
    pub(crate) fn ask(
        &self,
        ask: B::Ask,
    ) -> impl Future<Output = Result<B::Answer, StoreError>> + use<B> {
        let (reply, answer) = oneshot::channel();
        let operation = self.operation;
        let queued = self.queue.try_send((ask, reply));
        async move {
            queued.map_err(|_| StoreError::unavailable(operation, "too many are waiting"))?;
            let gone = |_| StoreError::unavailable(operation, "the writer is gone");
            answer.await.map_err(gone)?
        }
    }
}

async fn work<B: Batch>(batch: B, mut asked: mpsc::Receiver<Waiting<B>>, operation: &'static str) {
    let mut held_over = VecDeque::new();
    loop {
        let first = match held_over.pop_front() {
            Some(first) => first,
            None => match asked.recv().await {
                Some(first) => first,
                None => return,
            },
        };
        let (asks, replies) = gathered::<B>(first, &mut asked, &mut held_over);
        let broken = run_together(&batch, asks, replies, operation).await;
        if !broken.is_empty() {
            held_over.extend(std::iter::from_fn(|| asked.try_recv().ok()));
            held_over = unbroken::<B>(held_over, &broken, operation);
        }
    }
}

/// Refuses what was asked for in streams that are broken, and keeps the rest.
fn unbroken<B: Batch>(
    queued: VecDeque<Waiting<B>>,
    broken: &HashSet<B::Stream>,
    operation: &'static str,
) -> VecDeque<Waiting<B>> {
    let mut kept = VecDeque::with_capacity(queued.len());
    for (ask, reply) in queued {
        if B::stream(&ask).is_some_and(|stream| broken.contains(&stream)) {
            tell(reply, Err(StoreError::unavailable(operation, "an earlier one failed")));
        } else {
            kept.push_back((ask, reply));
        }
    }
    kept
}

/// The asks that can go together. One that clashes with an earlier one begins the next batch.
fn gathered<B: Batch>(
    first: Waiting<B>,
    asked: &mut mpsc::Receiver<Waiting<B>>,
    held_over: &mut VecDeque<Waiting<B>>,
) -> (Vec<B::Ask>, Vec<Reply<B>>) {
    let mut keys = HashSet::from([B::key(&first.0)]);
    let (mut asks, mut replies) = (vec![first.0], vec![first.1]);
    while asks.len() < GATHER_MAX {
        let Some(next) = held_over.pop_front().or_else(|| asked.try_recv().ok()) else { break };
        if !keys.insert(B::key(&next.0)) {
            held_over.push_front(next);
            break;
        }
        asks.push(next.0);
        replies.push(next.1);
    }
    (asks, replies)
}

/// Answers which streams are broken.
async fn run_together<B: Batch>(
    batch: &B,
    asks: Vec<B::Ask>,
    mut replies: Vec<Reply<B>>,
    operation: &'static str,
) -> HashSet<B::Stream> {
    match batch.run(&asks).await {
        Ok(answers) if answers.len() == asks.len() => {
            for (reply, answer) in replies.into_iter().zip(answers) {
                tell(reply, Ok(answer));
            }
        }
        Ok(_) => {
            for reply in replies {
                tell(reply, Err(StoreError::broken(operation, "an ask got no answer")));
            }
        }
        Err(error) if asks.len() == 1 => {
            if let Some(reply) = replies.pop() {
                tell(reply, Err(error));
            }
            return asks.iter().filter_map(B::stream).collect();
        }
        Err(_) => return run_apart(batch, asks, replies, operation).await,
    }
    HashSet::new()
}

/// Answers which streams are broken.
async fn run_apart<B: Batch>(
    batch: &B,
    asks: Vec<B::Ask>,
    replies: Vec<Reply<B>>,
    operation: &'static str,
) -> HashSet<B::Stream> {
    let mut broken_streams = HashSet::new();
    for (ask, reply) in asks.into_iter().zip(replies) {
        let stream = B::stream(&ask);
        if stream.as_ref().is_some_and(|stream| broken_streams.contains(stream)) {
            tell(reply, Err(StoreError::unavailable(operation, "an earlier one failed")));
            continue;
        }
        let answer = batch.run(std::slice::from_ref(&ask)).await.and_then(|mut answers| {
            answers.pop().ok_or_else(|| StoreError::broken(operation, "an ask got no answer"))
        });
        if answer.is_err() {
            broken_streams.extend(stream);
        }
        tell(reply, answer);
    }
    broken_streams
}

fn tell<T>(reply: oneshot::Sender<T>, answer: T) {
    // Who asked may have gone; the work is done all the same.
    drop(reply.send(answer));
}

#[cfg(test)]
mod tests;
