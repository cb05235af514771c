//! Schedulers of the operator that may report a due job.

use std::fmt;
use std::sync::Arc;

use axum::http::HeaderMap;
use nightdesk_schedule::RelayProof;
use nightdesk_types::Timestamp;

/// The proofs by which the operator's schedulers authenticate.
#[derive(Clone, Default)]
pub struct Relays(Arc<[Arc<dyn RelayProof>]>);

impl fmt::Debug for Relays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relays({})", self.0.len())
    }
}

impl Relays {
    /// Schedulers that authenticate by one of these proofs.
    pub fn new(proofs: Vec<Arc<dyn RelayProof>>) -> Self {
        Self(proofs.into())
    }

    /// True if the request carries a valid proof.
    pub(crate) fn has_valid_proof(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> bool {
        self.0.iter().any(|proof| {
            let shown = headers.get(proof.header()).and_then(|value| value.to_str().ok());
            shown.is_some_and(|shown| proof.is_valid(shown, body, now))
        })
    }
}
