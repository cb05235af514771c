//! The signed format of a hint between nodes.
//!
//! `mac.life.number.millis.words`. The MAC covers all that follows it, with a key that the nodes of a cell share. Life
//! and number identify the hint, so that it is accepted only once.

use std::sync::atomic::{AtomicU64, Ordering};

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use aws_lc_rs::rand;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nightdesk_types::Timestamp;
use nightdesk_types::limits::HINT_BYTES_MAX;

/// Length of a cell's name, enough for different names of two cells on one Redis.
const CELL_BYTES: usize = 9;

/// The reason why a hint has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HintError {
    /// No node of this cell sent it in this form.
    #[error("forged")]
    Forged,
    /// Its time is too far from the local clock.
    #[error("its time differs too much from this node's clock")]
    Late,
    /// It was received before.
    #[error("received before")]
    Doubled,
    /// It is in an unknown format, perhaps of another version.
    #[error("in an unknown format")]
    Unreadable,
}

/// Signs the hints of this node life, and verifies those of other nodes.
pub struct HintSeal {
    key: hmac::Key,
    life: u64,
    next_number: AtomicU64,
}

impl std::fmt::Debug for HintSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Seal({:x})", self.life)
    }
}

/// A verified hint of a node of this cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifiedHint<'a> {
    /// The node life that sent it.
    pub life: u64,
    /// The number of earlier hints of that life.
    pub number: u64,
    /// The time by the sender's clock, in milliseconds.
    pub millis: i64,
    /// The content.
    pub words: &'a str,
}

impl HintSeal {
    /// Starts a new life of a node that shares this secret with the others.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self {
            key: hmac::Key::new(HMAC_SHA256, secret),
            life: random_life(),
            next_number: AtomicU64::new(0),
        }
    }

    /// Returns the id of this life.
    pub const fn life(&self) -> u64 {
        self.life
    }

    /// Returns a name of the cell, derived from the secret without revealing it.
    pub fn cell(&self) -> String {
        // No hint has this form: each begins with its life.
        URL_SAFE_NO_PAD.encode(&hmac::sign(&self.key, b"cell").as_ref()[..CELL_BYTES])
    }

    /// Seals a text, if it is not too long. Each call makes another hint, also for the same text.
    pub fn seal(&self, now: Timestamp, words: &str) -> Option<String> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let said = format!("{:016x}.{number:x}.{}.{words}", self.life, now.as_millisecond());
        let mac = URL_SAFE_NO_PAD.encode(hmac::sign(&self.key, said.as_bytes()));
        let sealed = format!("{mac}.{said}");
        (sealed.len() <= HINT_BYTES_MAX).then_some(sealed)
    }

    /// Verifies and parses a hint.
    pub fn open<'a>(&self, sealed: &'a [u8]) -> Result<VerifiedHint<'a>, HintError> {
        if sealed.len() > HINT_BYTES_MAX {
            return Err(HintError::Forged);
        }
        let sealed = str::from_utf8(sealed).map_err(|_| HintError::Forged)?;
        let (mac, said) = sealed.split_once('.').ok_or(HintError::Forged)?;
        let mac = URL_SAFE_NO_PAD.decode(mac).map_err(|_| HintError::Forged)?;
        hmac::verify(&self.key, said.as_bytes(), &mac).map_err(|_| HintError::Forged)?;
        parse(said).ok_or(HintError::Unreadable)
    }
}

fn parse(said: &str) -> Option<VerifiedHint<'_>> {
    let mut parts = said.splitn(4, '.');
    let life = u64::from_str_radix(parts.next()?, 16).ok()?;
    let number = u64::from_str_radix(parts.next()?, 16).ok()?;
    let millis = parts.next()?.parse().ok()?;
    Some(VerifiedHint { life, number, millis, words: parts.next()? })
}

#[expect(clippy::expect_used, reason = "two lives of one name would not hear each other")]
fn random_life() -> u64 {
    let mut bytes = [0; 8];
    rand::fill(&mut bytes).expect("the system gives random bytes");
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{AgentId, Seq};
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::bell::Ring;

    const SECRET: [u8; 32] = [7; 32];

    fn now() -> Timestamp {
        Timestamp::from_millisecond(1_794_000_000_123).unwrap()
    }

    #[test]
    fn a_hint_is_short() {
        let agent = AgentId::from_uuid(Uuid::max());
        let ring = Ring::Entry { agent, seq: Seq::new(i64::from(i32::MAX)) };
        let words = serde_json::to_string(&ring).unwrap();

        let sealed = HintSeal::new(&SECRET).seal(now(), &words).unwrap();
        assert!(sealed.len() <= 200, "{} bytes: {sealed}", sealed.len());
    }

    #[test]
    fn a_hint_has_a_limit() {
        let seal = HintSeal::new(&SECRET);
        let frame = seal.seal(now(), "").unwrap().len();

        assert!(seal.seal(now(), &"x".repeat(HINT_BYTES_MAX - frame)).is_some());
        assert_eq!(seal.seal(now(), &"x".repeat(HINT_BYTES_MAX)), None);
        assert_eq!(seal.open(&[b'x'; HINT_BYTES_MAX + 1]), Err(HintError::Forged));
    }

    #[test]
    fn another_cells_hint_is_forged() {
        let other = HintSeal::new(&[8; 32]);
        let sealed = other.seal(now(), "{}").unwrap();

        assert_ne!(other.cell(), HintSeal::new(&SECRET).cell());
        assert_eq!(HintSeal::new(&SECRET).open(sealed.as_bytes()), Err(HintError::Forged));
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_what_is_opened(words in ".{0,200}") {
            let (one, other) = (HintSeal::new(&SECRET), HintSeal::new(&SECRET));
            let sealed = one.seal(now(), &words).unwrap();

            let millis = now().as_millisecond();
            let want = VerifiedHint { life: one.life(), number: 0, millis, words: &words };
            prop_assert_eq!(other.open(sealed.as_bytes()), Ok(want));
        }

        #[test]
        fn any_flipped_bit_is_refused(words in ".{0,40}", at: prop::sample::Index, bit in 0..8_u8) {
            let seal = HintSeal::new(&SECRET);
            let mut sealed = seal.seal(now(), &words).unwrap().into_bytes();
            *at.get_mut(&mut sealed) ^= 1_u8 << bit;

            prop_assert_eq!(seal.open(&sealed), Err(HintError::Forged));
        }

        #[test]
        fn noise_is_refused(noise: Vec<u8>) {
            prop_assert_eq!(HintSeal::new(&SECRET).open(&noise), Err(HintError::Forged));
        }
    }
}
