//! Receives wake calls for a sleeping agent.

mod calls;
mod serve;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use nightdesk_protocol::Secret;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::limits::{WAKE_SECRET_CHARS_MAX, WAKE_SECRET_CHARS_MIN};
use calls::WakeCalls;
use serve::{WakeEndpoint, serve};

/// Waits for a desk's wake calls: `GET /wake/<secret>` over plain HTTP.
///
/// A call is answered with 204 at once, in any state of the agent; every other request gets 404. Calls that arrive
/// together are one wake, and a call that arrives while no task waits is stored until one does.
#[derive(Debug)]
#[must_use = "a listener that is dropped hears nothing"]
pub struct Listener {
    address: SocketAddr,
    calls: Arc<WakeCalls>,
    /// Owns the serving task.
    _served: JoinSet<std::convert::Infallible>,
}

/// The reason that the listener cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The secret could be guessed, or is not valid in a URL.
    #[error(
        "the secret of a wake call has {WAKE_SECRET_CHARS_MIN} to {WAKE_SECRET_CHARS_MAX} letters, digits, - and _"
    )]
    Secret,
    /// The address is not free, or not a local one.
    #[error("could not listen at {0}")]
    Address(SocketAddr, #[source] io::Error),
}

impl Listener {
    /// Listens at an address, for calls with the secret. Port 0 takes any free port.
    ///
    /// # Errors
    ///
    /// The secret is too short, too long or not valid in a URL, or the address cannot be bound.
    pub async fn bind(address: SocketAddr, secret: impl Into<String>) -> Result<Self, BindError> {
        let secret = Secret::new(secret);
        if !is_fit(secret.expose()) {
            return Err(BindError::Secret);
        }
        let refused = |error| BindError::Address(address, error);
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let calls = Arc::new(WakeCalls::default());
        let door = Arc::new(WakeEndpoint::new(&secret, Arc::clone(&calls)));
        let mut served = JoinSet::new();
        served.spawn(serve(listener, door));
        Ok(Self { address, calls, _served: served })
    }

    /// Returns the address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for a wake. The future may be dropped while it waits; no call is lost by that.
    pub async fn woken(&self) {
        self.calls.wait_for_call().await;
    }
}

fn is_fit(secret: &str) -> bool {
    let fit = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (WAKE_SECRET_CHARS_MIN..=WAKE_SECRET_CHARS_MAX).contains(&secret.len())
        && secret.chars().all(fit)
}

#[cfg(test)]
mod tests;
