use std::sync::{Arc, Mutex};

use futures_util::future::join_all;

use super::*;

/// The request whose response holds back later ones of its stream.
const HELD: u32 = 5_000;

/// Doubles numbers, fails whenever a batch contains `poison`, and records the batches.
#[derive(Clone, Default)]
struct Doubler {
    batches: Arc<Mutex<Vec<Vec<u32>>>>,
    poison: Option<u32>,
}

#[async_trait]
impl Batch for Doubler {
    type Ask = u32;
    type Answer = u32;
    type Key = u32;
    type Stream = u32;
    type WriterShare = u32;

    async fn run(&self, asks: &[u32]) -> Result<Vec<u32>, StoreError> {
        self.batches.lock().unwrap().push(asks.to_vec());
        tokio::task::yield_now().await;
        if asks.iter().any(|ask| Some(*ask) == self.poison) {
            return Err(StoreError::unavailable("double", "poison"));
        }
        Ok(asks.iter().map(|ask| ask * 2).collect())
    }

    fn key(ask: &u32) -> u32 {
        *ask
    }

    // Numbers of one decade are a stream.
    fn stream(ask: &u32) -> Option<u32> {
        Some(ask / 10)
    }

    fn holds_back(answer: &u32) -> bool {
        *answer == 2 * HELD
    }

    // Numbers of one thousand are a share.
    fn share(ask: &u32) -> u32 {
        ask / 1_000
    }
}

async fn answers(doubler: Doubler, asks: &[u32]) -> Vec<Result<u32, StoreError>> {
    let (gather, work) = BatchQueue::new(doubler, "double");
    let asked: Vec<_> = asks.iter().map(|ask| gather.send_request(*ask)).collect();
    drop(gather);
    let (answers, ()) = tokio::join!(join_all(asked), work);
    answers
}

fn sizes(doubler: &Doubler) -> Vec<usize> {
    doubler.batches.lock().unwrap().iter().map(Vec::len).collect()
}

#[tokio::test]
async fn gathers_up_to_the_limit_and_no_further() {
    let doubler = Doubler::default();
    let asks: Vec<u32> = (0..).take(GATHER_MAX + 1).collect();

    let answers = answers(doubler.clone(), &asks).await;
    assert!(answers.into_iter().zip(asks).all(|(answer, ask)| answer.unwrap() == ask * 2));
    assert_eq!(sizes(&doubler), [GATHER_MAX, 1]);
}

#[tokio::test]
async fn two_asks_with_one_key_are_not_run_together() {
    let doubler = Doubler::default();

    assert_eq!(answers(doubler.clone(), &[1, 2, 1, 3]).await.len(), 4);
    assert_eq!(*doubler.batches.lock().unwrap(), [vec![1, 2], vec![1, 3]]);
}

#[tokio::test]
async fn one_failing_ask_does_not_take_the_others_down() {
    let doubler = Doubler { poison: Some(20), ..Doubler::default() };

    let answers = answers(doubler, &[10, 20, 30]).await;
    let fine: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(fine, [true, false, true]);
}

#[tokio::test]
async fn nothing_of_a_stream_is_run_after_a_failure() {
    let doubler = Doubler { poison: Some(21), ..Doubler::default() };

    let answers = answers(doubler, &[20, 21, 22, 30]).await;
    let fine: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(fine, [true, false, false, true]);
}

#[tokio::test]
async fn nothing_of_a_stream_is_run_after_a_failure_in_the_batch_before() {
    let doubler = Doubler { poison: Some(20), ..Doubler::default() };
    let others = (100..).take(GATHER_MAX - 1);
    let asks: Vec<u32> = std::iter::once(20).chain(others).chain([21, 30]).collect();

    let answers = answers(doubler.clone(), &asks).await;
    let failed: Vec<u32> =
        asks.iter().zip(&answers).filter(|(_, a)| a.is_err()).map(|(ask, _)| *ask).collect();
    assert_eq!(failed, [20, 21]);
}

#[tokio::test]
async fn nothing_of_a_stream_is_run_after_an_answer_that_holds_it_back() {
    let doubler = Doubler::default();
    let others = (HELD + 100..).take(GATHER_MAX - 1);
    let asks: Vec<u32> =
        std::iter::once(HELD).chain(others).chain([HELD + 1, HELD + 200]).collect();

    let answers = answers(doubler.clone(), &asks).await;
    let failed: Vec<u32> =
        asks.iter().zip(&answers).filter(|(_, a)| a.is_err()).map(|(ask, _)| *ask).collect();
    assert_eq!(failed, [HELD + 1]);
}

#[tokio::test]
async fn of_asks_in_order_none_is_queued_behind_one_that_found_no_room() {
    let (gather, work) = BatchQueue::new(Doubler::default(), "double");
    let asks: Vec<u32> = (0..1_000).collect();
    let asked = gather.send_in_order(asks);
    drop(gather);

    let (answers, ()) = tokio::join!(join_all(asked), work);
    let done = answers.iter().take_while(|answer| answer.is_ok()).count();
    assert_eq!(done, WRITER_QUEUE_MAX / 2);
    assert!(answers[done..].iter().all(Result::is_err));
}

#[tokio::test]
async fn a_full_queue_says_come_again() {
    let (gather, work) = BatchQueue::new(Doubler::default(), "double");
    let hot: Vec<_> = (0..).take(WRITER_QUEUE_MAX).map(|ask| gather.send_request(ask)).collect();
    let other = gather.send_request(1_000);
    drop(gather);

    let (answers, other, ()) = tokio::join!(join_all(hot), other, work);
    let refused: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
    assert_eq!(refused.len(), WRITER_QUEUE_MAX / 2);
    assert!(refused.iter().all(|refused| refused.retryable));
    assert!(other.is_ok(), "who asks little still has room");
}

#[tokio::test]
async fn who_asks_little_does_not_wait_behind_who_asks_much() {
    let doubler = Doubler::default();
    let hot = (0..).take(10 * GATHER_MAX);
    let asks: Vec<u32> = hot.chain([1_000, 2_000, 1_001]).collect();

    assert!(answers(doubler.clone(), &asks).await.iter().all(Result::is_ok));
    let first = doubler.batches.lock().unwrap()[0].clone();
    assert_eq!(first[..5], [0, 1_000, 2_000, 1, 1_001]);
}

#[tokio::test]
async fn nobody_waits_for_a_writer_that_is_gone() {
    let (gather, work) = BatchQueue::new(Doubler::default(), "double");
    let before = gather.send_request(1);
    drop(work);

    let after = gather.send_request(2);
    assert!(before.await.is_err() && after.await.is_err());
}
