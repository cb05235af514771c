//! Gather: concurrent asks become one statement.
//!
//! While one batch is being committed, the next gathers by itself: there is no timer, and a
//! lone ask waits for nobody. When a batch fails its asks are run again one by one, so that
//! one tenant's trouble is not fifteen others'. Who asks much has no more turns than who asks
//! little.

mod queue;

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nightdesk_types::StoreError;
use nightdesk_types::limits::{GATHER_MAX, WRITER_QUEUE_MAX};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use queue::Queue;

/// Work that can be done for several at once.
#[async_trait]
pub trait Batch: Send + Sync + 'static {
    /// What is asked for.
    type Ask: Send + Sync;
    /// What is answered.
    type Answer: Send;
    /// What two asks of one batch must not share.
    type Key: Eq + Hash + Send;
    /// What must stay in order: after a failure nothing of the same stream is run that was asked
    /// for before whoever asks could know of it.
    type Stream: Eq + Hash + Send;
    /// Whose an ask is, of those who have turns. A stream is all of one.
    type Share: Clone + Eq + Hash + Send;

    /// Answers every ask, or none.
    async fn run(&self, asks: &[Self::Ask]) -> Result<Vec<Self::Answer>, StoreError>;

    /// What no other ask of the batch may share.
    fn key(ask: &Self::Ask) -> Self::Key;

    /// The stream the ask belongs to, if its order counts.
    fn stream(ask: &Self::Ask) -> Option<Self::Stream>;

    /// Whose it is.
    fn share(ask: &Self::Ask) -> Self::Share;

    /// Whether an answer says that its ask was not done, so that nothing behind it in its stream may be.
    fn holds_back(_answer: &Self::Answer) -> bool {
        false
    }
}

type Reply<B> = oneshot::Sender<Result<<B as Batch>::Answer, StoreError>>;
type Waiting<B> = (<B as Batch>::Ask, Reply<B>);
type Answered<B> = oneshot::Receiver<Result<<B as Batch>::Answer, StoreError>>;
type Waits<B> = Mutex<Queue<<B as Batch>::Share, Waiting<B>>>;

/// The asking end.
pub struct Gather<B: Batch> {
    queue: Arc<Waits<B>>,
    /// Says that something waits. When it is gone, nobody asks any more.
    rung: mpsc::Sender<()>,
    operation: &'static str,
}

impl<B: Batch> std::fmt::Debug for Gather<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gather({})", self.operation)
    }
}

impl<B: Batch> Gather<B> {
    /// A queue, and the worker that empties it for as long as somebody may ask.
    pub fn new(batch: B, operation: &'static str) -> (Self, impl Future<Output = ()>) {
        let (rung, bell) = mpsc::channel(1);
        let queue = Arc::new(Mutex::new(Queue::new(WRITER_QUEUE_MAX)));
        let work = work(batch, Asked { bell, queue: Arc::clone(&queue) }, operation);
        (Self { queue, rung, operation }, work)
    }

    /// Queues an ask; the answer comes when its batch has been committed.
    ///
    /// A full queue is an answer too: come again.
    pub fn ask(&self, ask: B::Ask) -> impl Future<Output = Result<B::Answer, StoreError>> + use<B> {
        let queued = queued::<B>(&mut lock(&self.queue), ask);
        self.answer(queued)
    }

    /// Queues asks, one behind the other. Where one finds no room, none behind it does.
    pub fn ask_in_order(
        &self,
        asks: Vec<B::Ask>,
    ) -> Vec<impl Future<Output = Result<B::Answer, StoreError>> + use<B>> {
        let queued: Vec<_> = {
            // Nobody makes room meanwhile.
            let mut queue = lock(&self.queue);
            asks.into_iter().map(|ask| queued::<B>(&mut queue, ask)).collect()
        };
        queued.into_iter().map(|queued| self.answer(queued)).collect()
    }

    fn answer(
        &self,
        queued: Option<Answered<B>>,
    ) -> impl Future<Output = Result<B::Answer, StoreError>> + use<B> {
        let operation = self.operation;
        // One that is full rings already.
        let is_gone = matches!(self.rung.try_send(()), Err(TrySendError::Closed(())));
        async move {
            let Some(answer) = queued else {
                return Err(StoreError::unavailable(operation, "too many are waiting"));
            };
            let gone = || StoreError::unavailable(operation, "the writer is gone");
            if is_gone { Err(gone()) } else { answer.await.map_err(|_| gone())? }
        }
    }
}

/// Lets an ask wait, if there is room.
fn queued<B: Batch>(queue: &mut Queue<B::Share, Waiting<B>>, ask: B::Ask) -> Option<Answered<B>> {
    let (reply, answer) = oneshot::channel();
    queue.push(B::share(&ask), (ask, reply)).is_ok().then_some(answer)
}

fn lock<T>(queue: &Mutex<T>) -> MutexGuard<'_, T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The worker's end. When it goes, also by a panic, nobody waits for it any more.
struct Asked<B: Batch> {
    bell: mpsc::Receiver<()>,
    queue: Arc<Waits<B>>,
}

impl<B: Batch> Drop for Asked<B> {
    fn drop(&mut self) {
        // Who asks after this is told at once; who asked before loses the reply.
        self.bell.close();
        drop(lock(&self.queue).take_out(|_| true));
    }
}

async fn work<B: Batch>(batch: B, mut asked: Asked<B>, operation: &'static str) {
    loop {
        let (asks, replies) = gathered::<B>(&asked.queue);
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

/// Refuses what was asked for in streams that are broken, and keeps the rest.
fn refuse_broken<B: Batch>(queue: &Waits<B>, broken: &HashSet<B::Stream>, operation: &'static str) {
    let is_broken = |(ask, _): &Waiting<B>| B::stream(ask).is_some_and(|of| broken.contains(&of));
    for (_, reply) in lock(queue).take_out(is_broken) {
        tell(reply, Err(StoreError::unavailable(operation, "an earlier one failed")));
    }
}

/// The asks that can go together. One that clashes with an earlier one begins the next batch.
fn gathered<B: Batch>(queue: &Waits<B>) -> (Vec<B::Ask>, Vec<Reply<B>>) {
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

/// Answers which streams are broken.
async fn run_together<B: Batch>(
    batch: &B,
    asks: Vec<B::Ask>,
    mut replies: Vec<Reply<B>>,
    operation: &'static str,
) -> HashSet<B::Stream> {
    match batch.run(&asks).await {
        Ok(answers) if answers.len() == asks.len() => {
            let broken = held_back::<B>(&asks, &answers);
            for (reply, answer) in replies.into_iter().zip(answers) {
                tell(reply, Ok(answer));
            }
            return broken;
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

/// The streams of which nothing more may be done.
fn held_back<B: Batch>(asks: &[B::Ask], answers: &[B::Answer]) -> HashSet<B::Stream> {
    let is_held = |(_, answer): &(&B::Ask, &B::Answer)| B::holds_back(answer);
    let held = asks.iter().zip(answers).filter(is_held);
    held.filter_map(|(ask, _)| B::stream(ask)).collect()
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
        if answer.as_ref().map_or(true, B::holds_back) {
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
