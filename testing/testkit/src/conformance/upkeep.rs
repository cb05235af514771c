//! What upkeep promises at any moment. What it does after days is in [`time`](super::time).

use nightdesk_inbox::{Put, Swept};

use super::Harness;
use super::cast::Cast;

/// A round of upkeep touches nothing that is young, as often as it is run.
pub async fn a_round_touches_nothing_young(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;

    for _ in 0..3 {
        assert_eq!(keep(harness).await, Swept::default());
    }
    assert_eq!(cast.numbers(&line).await, [2, 3]);
    assert_eq!(cast.put(&ann.says(1)).await, Put::Duplicate);
}

/// One round.
pub(super) async fn keep(harness: &impl Harness) -> Swept {
    harness.upkeep().keep().await.expect("keep the days")
}
