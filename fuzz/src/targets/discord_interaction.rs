//! Z01: nothing of an interaction is parsed before its signature is checked, for all headers; a signed one becomes an
//! event or is stored as unreadable.

use std::sync::LazyLock;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use http::{HeaderMap, HeaderValue};
use nightdesk_discord::{Discord, SIGNATURE_HEADER, TIMESTAMP_HEADER};
use nightdesk_intake::verify;
use nightdesk_port::{Bot, Receive, ReceiveOutcome, SignedRequest};

use super::adapters::{NOW_SECS, check_intake, discord, discord_bot};

struct SignedBot {
    key: Ed25519KeyPair,
    bot: Bot,
    discord: Discord,
}

static SIGNED_BOT: LazyLock<SignedBot> = LazyLock::new(|| {
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a seed");
    let bot = discord_bot(key.public_key().as_ref());
    SignedBot { key, bot, discord: discord() }
});

/// The first byte selects a signed request, or one whose headers are the first two lines.
pub(super) fn run(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    if kind.is_multiple_of(2) { signed(rest) } else { forged(rest) }
}

fn signed(body: &[u8]) {
    let SignedBot { key, bot, discord } = &*SIGNED_BOT;
    let at = NOW_SECS.to_string();
    let signature = hex::encode(key.sign(&[at.as_bytes(), body].concat()));
    let headers = headers(at.as_bytes(), signature.as_bytes()).expect("they are plain");
    let request = SignedRequest::post(&headers, body);
    let intake = verify(discord, bot, &request).expect("it is signed");
    check_intake(&intake);
    for taken in [ReceiveOutcome::Kept, ReceiveOutcome::Refused, ReceiveOutcome::NotKept] {
        let answer = discord.answer(&request, taken).expect("Discord is answered");
        serde_json::from_slice::<serde_json::Value>(&answer.body).expect("the answer is JSON");
    }
}

fn forged(rest: &[u8]) {
    let SignedBot { bot, discord, .. } = &*SIGNED_BOT;
    let mut parts = rest.splitn(3, |byte| *byte == b'\n');
    let (at, signature) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (Some(headers), body) = (headers(at, signature), parts.next().unwrap_or_default()) else {
        return;
    };
    let reads = discord.reads();
    let taken = verify(discord, bot, &SignedRequest::post(&headers, body));
    assert!(taken.is_err(), "what nobody signed is not taken");
    assert_eq!(discord.reads(), reads, "and nothing of it is read");
}

/// Returns the headers, if they are valid in HTTP.
fn headers(at: &[u8], signature: &[u8]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(TIMESTAMP_HEADER, HeaderValue::from_bytes(at).ok()?);
    headers.insert(SIGNATURE_HEADER, HeaderValue::from_bytes(signature).ok()?);
    Some(headers)
}
