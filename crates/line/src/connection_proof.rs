//! The mark of a connection whose client has proved something.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::http::Extensions;

/// Tells the listener that the client of a connection has proved something: a token, a signature, or a path that cannot
/// be guessed. The listener adds it to each request, and closes only unproven connections when there are too many.
#[derive(Clone, Debug, Default)]
pub struct ConnectionProof(Arc<AtomicBool>);

impl ConnectionProof {
    /// Records the proof of the client whose request has these extensions.
    pub fn record_in(extensions: &Extensions) {
        if let Some(Self(is_proven)) = extensions.get::<Self>() {
            is_proven.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if the client has proved something.
    pub fn is_recorded(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
