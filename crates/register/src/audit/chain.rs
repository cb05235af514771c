//! Computes the hash of a row in a chain.

use aws_lc_rs::digest::{Context, SHA256};
use nightdesk_types::TenantId;

use super::AuditRecord;

/// A position in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainLink {
    /// The row's number. Zero is the position before the first row.
    pub seq: i64,
    /// The row's hash.
    pub hash: Vec<u8>,
}

impl ChainLink {
    /// Returns the position before the first row.
    pub fn start() -> Self {
        Self { seq: 0, hash: vec![0; 32] }
    }
}

/// Returns the hash of a row that follows `before`. It covers the previous hash and each field after its length, so two
/// different rows never hash the same bytes. The store computes the same hash.
pub fn link_hash(before: &ChainLink, tenant: TenantId, deed: &AuditRecord) -> Vec<u8> {
    let mut hash = Context::new(&SHA256);
    hash.update(&before.hash);
    let (tenant, seq) = (tenant.to_string(), deed.seq.to_string());
    let at = deed.at.as_microsecond().to_string();
    for field in [&tenant, &seq, &at, &deed.actor, &deed.kind, &deed.about] {
        hash.update(field.len().to_string().as_bytes());
        hash.update(b":");
        hash.update(field.as_bytes());
    }
    hash.finish().as_ref().to_vec()
}
