//! Chain: how a row's hash is made.

use aws_lc_rs::digest::{Context, SHA256};
use nightdesk_types::TenantId;

use super::Deed;

/// A place in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The row's number. Zero: before the first.
    pub seq: i64,
    /// Its hash.
    pub hash: Vec<u8>,
}

impl Link {
    /// The place before the first row.
    pub fn start() -> Self {
        Self { seq: 0, hash: vec![0; 32] }
    }
}

/// The hash of a row that comes after `before`: of that one's hash, and of each field after its
/// length, so that no two rows are the same bytes. The store makes the same.
pub fn linked(before: &Link, tenant: TenantId, deed: &Deed) -> Vec<u8> {
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
