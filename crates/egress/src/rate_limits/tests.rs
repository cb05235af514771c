//! Tests of the rate limits' promises.

use std::num::NonZeroU32;

use tokio::time::advance;

use super::*;

const SECOND: Duration = Duration::from_secs(1);
const FAR: Duration = Duration::from_mins(1);

fn pace(calls: u32) -> CallRate {
    CallRate::per_second(NonZeroU32::new(calls).unwrap())
}

fn reserved(paces: &RateLimits<&'static str>, key: &'static str, calls: u32) -> Duration {
    let now = Instant::now();
    paces.reserve(&key, pace(calls), now + FAR).unwrap() - now
}

#[tokio::test(start_paused = true)]
async fn so_many_at_once_and_then_in_step() {
    let paces = RateLimits::default();
    let at: Vec<_> = (0..7).map(|_| reserved(&paces, "chat", 4).as_millis()).collect();

    assert_eq!(at, [0, 0, 0, 0, 250, 500, 750]);
    advance(SECOND * 10).await;
    assert!(reserved(&paces, "chat", 4).is_zero(), "rested");
}

#[tokio::test(start_paused = true)]
async fn a_place_past_the_end_is_not_taken() {
    let paces = RateLimits::default();
    let now = Instant::now();
    assert_eq!(paces.reserve(&"chat", pace(1), now), Some(now));
    for _ in 0..3 {
        assert_eq!(paces.reserve(&"chat", pace(1), now + SECOND / 2), None);
    }
    assert_eq!(paces.reserve(&"chat", pace(1), now + SECOND), Some(now + SECOND));
}

#[tokio::test(start_paused = true)]
async fn nobody_gets_through_what_is_held() {
    for calls in [1, 5] {
        let paces = RateLimits::default();
        paces.hold(&"chat", pace(calls), SECOND * 7);
        assert!(!paces.is_free(&"chat", pace(calls)));
        assert_eq!(reserved(&paces, "chat", calls), SECOND * 7);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_spare_leaves_half_to_others() {
    let paces = RateLimits::default();
    let taken = (0..20).filter(|_| paces.take_spare(&"bot", pace(10))).count();

    assert_eq!(taken, 6, "half, and the one that begins the second half");
    let sends: Vec<_> = (0..4).map(|_| reserved(&paces, "bot", 10)).collect();
    assert_eq!(sends, [Duration::ZERO; 4]);
}

#[tokio::test(start_paused = true)]
async fn once_is_once_in_a_span() {
    let paces = RateLimits::default();
    assert!(paces.take_once_per(&"chat", SECOND));
    assert!(!paces.take_once_per(&"chat", SECOND));
    assert!(paces.take_once_per(&"other", SECOND));
    advance(SECOND).await;
    assert!(paces.take_once_per(&"chat", SECOND));
}
