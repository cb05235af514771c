//! Checks the signature and the age of a request.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use nightdesk_kit::signature::is_recent;
use nightdesk_kit::webhook::only_header_text;
use nightdesk_port::{Bot, ReceiveError, SignedRequest};
use nightdesk_types::Timestamp;

use crate::own_ids::public_key;

/// The header with the signature, in hex.
pub const SIGNATURE_HEADER: &str = "x-signature-ed25519";

/// The header with the time of the signature, in seconds.
pub const TIMESTAMP_HEADER: &str = "x-signature-timestamp";

/// The points of small order, without their signs. A signature with one of them as key or nonce is valid for more than
/// one message. The last two are non-canonical encodings of the first two.
const SMALL_ORDER: [[u8; 32]; 7] = [
    y(0x00, 0x00, 0x00),
    y(0x01, 0x00, 0x00),
    y(0xec, 0xff, 0x7f),
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ],
    y(0xed, 0xff, 0x7f),
    y(0xee, 0xff, 0x7f),
];

const fn y(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let mut bytes = [middle; 32];
    bytes[0] = first;
    bytes[31] = last;
    bytes
}

/// Checks the signature over the exact bytes, strictly: the library rejects a non-canonical `s`, and this function
/// rejects points of small order.
pub(super) fn check(
    bot: &Bot,
    request: &SignedRequest<'_>,
    now: Timestamp,
) -> Result<(), ReceiveError> {
    let checked = verify_signature(bot, request, now);
    checked.ok_or(ReceiveError::BadSignature)
}

fn verify_signature(bot: &Bot, request: &SignedRequest<'_>, now: Timestamp) -> Option<()> {
    let key = public_key(bot).filter(|key| !is_of_small_order(key))?;
    let signature = decode_signature(only_header_text(request.headers, SIGNATURE_HEADER)?)?;
    let (nonce, _) = signature.split_first_chunk::<32>()?;
    let at = only_header_text(request.headers, TIMESTAMP_HEADER)?;
    if is_of_small_order(nonce) || !is_recent(at, now) {
        return None;
    }
    let signed = [at.as_bytes(), request.body].concat();
    UnparsedPublicKey::new(&ED25519, key).verify(&signed, &signature).ok()
}

fn decode_signature(hex: &str) -> Option<[u8; 64]> {
    let mut bytes = [0; 64];
    hex::decode_to_slice(hex, &mut bytes).ok()?;
    Some(bytes)
}

fn is_of_small_order(point: &[u8; 32]) -> bool {
    let mut without_sign = *point;
    without_sign[31] &= 0x7f;
    SMALL_ORDER.contains(&without_sign)
}
