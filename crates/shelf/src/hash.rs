//! Digests and version names of bytes.

use aws_lc_rs::digest::{SHA256, digest};

/// Number of hex digits of a version.
const VERSION_DIGITS: usize = 12;

/// Returns the digest of a skill's bytes exactly as they are stored.
pub fn content_hash(source: &str) -> String {
    hex::encode(digest(&SHA256, source.as_bytes()))
}

/// Returns the version name of a digest.
pub fn version_of(content_hash: &str) -> String {
    content_hash.chars().take(VERSION_DIGITS).collect()
}

/// Returns a short token of a text.
pub(crate) fn token_of(text: &str) -> String {
    let mut token = content_hash(text);
    token.truncate(TOKEN_DIGITS);
    token
}

/// Number of hex digits of a token, enough to make collisions unlikely.
const TOKEN_DIGITS: usize = 32;
