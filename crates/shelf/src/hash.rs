//! Which bytes something has.

use aws_lc_rs::digest::{SHA256, digest};

/// How many digits of a digest name a version.
const VERSION_DIGITS: usize = 12;

/// The digest of a skill's bytes, exactly as they are kept.
pub fn content_hash(source: &str) -> String {
    hex::encode(digest(&SHA256, source.as_bytes()))
}

/// The version that a digest names.
pub fn version_of(content_hash: &str) -> String {
    content_hash.chars().take(VERSION_DIGITS).collect()
}

/// A short token that stands for a text.
pub(crate) fn token_of(text: &str) -> String {
    let mut token = content_hash(text);
    token.truncate(TOKEN_DIGITS);
    token
}

/// So many that two shelves do not have the same by accident.
const TOKEN_DIGITS: usize = 32;
