//! Ids of stops.

use aws_lc_rs::rand;
use nightdesk_types::StopId;

/// Returns the id of a new stop.
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "two stops of one id would get each other's results"
)]
pub fn random_stop_id() -> StopId {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).expect("the system gives random bytes");
    StopId::from_random(u128::from_be_bytes(bytes))
}
