//! Z03: a token that was made is parsed to what it was made of, and no token is accepted without the gateway's secret.

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use nightdesk_protocol::upgrade_token::{UpgradeToken, is_gateway_name, make};

use super::adapters::now;
use crate::input::FuzzInput;

const SECRET: &str = "the secret of a gateway";
const OTHER_SECRET: &str = "the secret of another gateway";

/// Letters of a gateway's name.
const NAME_LETTERS: &[u8] = b"abcxyzABCXYZ0189_.-";

/// Longest lifetime that a client asks for.
const TTL_SECS_MAX: i64 = 300;

/// The first byte selects a token as text, or the parts of one that is made and then damaged.
pub(super) fn run(data: &[u8]) {
    let mut input = FuzzInput::new(data);
    if input.take_byte().is_multiple_of(2) {
        check_shown(&String::from_utf8_lossy(input.rest()));
    } else {
        check_made(input);
    }
}

/// Checks that an accepted token has the signature of the secret.
fn check_shown(token: &str) {
    let Some(parsed) = UpgradeToken::peek(token) else { return };
    let is_verified = parsed.verify(&[SECRET], now()).is_some();
    let gateway = parsed.gateway().to_owned();
    let plausible = parsed.at_the_door(now());
    let is_accepted = plausible.is_ok_and(|token| token.signed_by(&[SECRET]).is_some());
    if is_verified || is_accepted {
        assert!(is_genuine(token, &gateway), "{token} was accepted");
    }
    assert!(!is_accepted || is_gateway_name(&gateway), "{gateway:?} is no name");
}

fn check_made(mut input: FuzzInput<'_>) {
    let (ttl, length) = (input.take_u16(), input.take_byte() % 64 + 1);
    let letter = |byte: u8| char::from(NAME_LETTERS[usize::from(byte) % NAME_LETTERS.len()]);
    let name: String = (0..length).map(|_| letter(input.take_byte())).collect();
    let ttl_secs = i64::from(ttl) % TTL_SECS_MAX + 1;
    let token = make(&name, SECRET.as_bytes(), ttl_secs, now());
    let parsed = UpgradeToken::peek(token.expose()).expect("a made token is readable");
    assert_eq!(parsed.gateway(), name);
    let plausible = parsed.at_the_door(now()).expect("a made token is plausible");
    assert_eq!(plausible.signed_by(&[OTHER_SECRET, SECRET]), Some(1));
    assert_eq!(plausible.signed_by(&[OTHER_SECRET, ""]), None);

    let mut damaged = token.expose().as_bytes().to_vec();
    while !input.is_empty() {
        let at = usize::from(input.take_u16()) % damaged.len();
        damaged[at] ^= input.take_byte() & 0x7f;
    }
    check_shown(&String::from_utf8_lossy(&damaged));
}

/// Decodes a token by hand and compares its signature with that of the secret.
fn is_genuine(token: &str, gateway: &str) -> bool {
    let text = String::from_utf8(decode_base64(token)).expect("an accepted token is text");
    let mut parts = text.rsplitn(3, ':');
    let (signature, expires_at) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let expires_at: i64 = expires_at.trim().parse().expect("an accepted token has a time");
    let signed = format!("{gateway}:{expires_at}");
    let wanted = hex::encode(sign(&Key::new(HMAC_SHA256, SECRET.as_bytes()), signed.as_bytes()));
    parts.next() == Some(gateway) && signature.eq_ignore_ascii_case(&wanted)
}

fn decode_base64(token: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'-' | b'+' => Some(62),
        b'_' | b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for value in token.bytes().filter_map(value) {
        bits = ((bits << 6) | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or_default());
        }
    }
    bytes
}
