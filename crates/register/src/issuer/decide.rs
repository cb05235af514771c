//! Decides what a presented refresh token gets.

use std::fmt;

/// The random value from which the successor of a refresh token is derived. It is stored with the exchanged token, so
/// that a repeated exchange gets the same successor. Without the token it reveals nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RefreshSeed([u8; 32]);

impl RefreshSeed {
    /// Creates a seed from random bytes, or reads a stored one.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for RefreshSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RefreshSeed(…)")
    }
}

/// The earlier exchange of a presented token.
#[derive(Clone, Copy, Debug)]
pub struct TokenExchange {
    /// The seed of the successor.
    pub seed: RefreshSeed,
    /// True within [`REFRESH_OVERLAP`](nightdesk_types::limits::REFRESH_OVERLAP).
    pub is_recent: bool,
    /// True while no request presented the successor.
    pub is_successor_unused: bool,
}

/// The next step for a presented token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshStep {
    /// The token is exchanged for a new successor.
    Exchange,
    /// The response of the first exchange may have been lost: the same successor again.
    Repeat(RefreshSeed),
    /// Two parties have the token. The session ends.
    EndSession,
}

/// Decides about a token of a valid session, by its earlier exchange.
///
/// A session has one chain of tokens: a token never has two successors, and once its successor was used, the token shows
/// that a second party has it.
pub const fn decide_refresh(exchange: Option<&TokenExchange>) -> RefreshStep {
    match exchange {
        None => RefreshStep::Exchange,
        Some(TokenExchange { seed, is_recent: true, is_successor_unused: true }) => {
            RefreshStep::Repeat(*seed)
        }
        Some(_) => RefreshStep::EndSession,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_one_successor() {
        let seed = RefreshSeed::from_bytes([7; 32]);
        let exchange =
            |is_recent, is_successor_unused| TokenExchange { seed, is_recent, is_successor_unused };
        let cases = [
            ("new", None, RefreshStep::Exchange),
            ("the response was lost", Some(exchange(true, true)), RefreshStep::Repeat(seed)),
            ("the successor was used", Some(exchange(true, false)), RefreshStep::EndSession),
            ("long ago", Some(exchange(false, true)), RefreshStep::EndSession),
            ("long ago and used", Some(exchange(false, false)), RefreshStep::EndSession),
        ];
        for (name, exchange, want) in cases {
            assert_eq!(decide_refresh(exchange.as_ref()), want, "{name}");
        }
    }
}
