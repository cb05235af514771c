//! Checks the promises of upkeep at any moment. Its effects after days are in [`time`](super::time).

use nightdesk_inbox::{PutOutcome, SweepReport};

use super::Harness;
use super::cast::Cast;

/// Checks that any number of upkeep rounds touch no young rows.
pub async fn a_round_touches_nothing_young(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;

    for _ in 0..3 {
        assert_eq!(keep(harness).await, SweepReport::default());
    }
    assert_eq!(cast.numbers(&line).await, [2, 3]);
    assert_eq!(cast.put(&ann.says(1)).await, PutOutcome::Duplicate);
}

/// Runs one round.
pub(super) async fn keep(harness: &impl Harness) -> SweepReport {
    harness.upkeep().sweep().await.expect("keep the days")
}
