//! Z17: a hint without the cell's key has no effect, a genuine one has an effect once, and its content is a known ring
//! or refused.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use nightdesk_bus::{HintError, HintHistory, HintSeal, Ring, VerifiedHint};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::HINT_BYTES_MAX;

use super::adapters::now;
use crate::input::FuzzInput;

/// Bytes of a hint around its text, at most.
const FRAME_BYTES_MAX: usize = 128;

/// Most hints of one input.
const HINTS_MAX: usize = 256;

static SEAL: LazyLock<HintSeal> = LazyLock::new(|| HintSeal::new(&[7; 32]));

/// The first byte selects bytes from the wire, a sealed text that is damaged, or numbers of hints.
pub(super) fn run(data: &[u8]) {
    let mut input = FuzzInput::new(data);
    match input.take_byte() % 3 {
        0 => assert_eq!(SEAL.open(input.rest()), Err(HintError::Forged), "no node sealed it"),
        1 => check_sealed(input),
        _ => check_numbers(input),
    }
}

fn check_sealed(mut input: FuzzInput<'_>) {
    let (at, flip) = (input.take_u16(), input.take_byte());
    let words = String::from_utf8_lossy(input.rest());
    let Some(sealed) = SEAL.seal(now(), &words) else {
        assert!(words.len() + FRAME_BYTES_MAX > HINT_BYTES_MAX, "a short text is sealed");
        return;
    };
    assert!(sealed.len() <= HINT_BYTES_MAX);
    let opened = SEAL.open(sealed.as_bytes()).expect("the node's own hint");
    assert_eq!((opened.words, opened.life), (&*words, SEAL.life()));
    check_once(&opened);
    check_ring(opened.words);

    let mut damaged = sealed.into_bytes();
    let at = usize::from(at) % damaged.len();
    damaged[at] ^= flip | 1;
    assert_eq!(SEAL.open(&damaged), Err(HintError::Forged), "byte {at} was changed");
}

fn check_once(hint: &VerifiedHint<'_>) {
    let mut history = HintHistory::default();
    assert_eq!(history.record_hint(now(), hint), Ok(()));
    assert_eq!(history.record_hint(now(), hint), Err(HintError::Doubled));
}

/// Checks that a ring that is read means the same when it is sent on.
fn check_ring(words: &str) {
    let Ok(ring) = serde_json::from_str::<Ring>(words) else { return };
    let again = serde_json::to_string(&ring).expect("a ring can be written");
    let again: Ring = serde_json::from_str(&again).expect("and read again");
    assert_eq!((again.address(), &again), (ring.address(), &ring));
}

/// Checks hints of a few lives with any numbers and times: none is accepted twice.
fn check_numbers(mut input: FuzzInput<'_>) {
    let (mut history, mut accepted) = (HintHistory::default(), BTreeSet::new());
    let now_millis = now().as_millisecond();
    for _ in 0..HINTS_MAX {
        if input.is_empty() {
            return;
        }
        let (life, number) = (u64::from(input.take_byte() % 4), input.take_number());
        let millis =
            now_millis.saturating_add(i64::from(input.take_u16()) - i64::from(u16::MAX / 2));
        let hint = VerifiedHint { life, number, millis, words: "" };
        let at = Timestamp::from_millisecond(now_millis).unwrap_or_default();
        if history.record_hint(at, &hint).is_ok() {
            assert!(accepted.insert((life, number)), "{number} of life {life} twice");
        }
    }
}
