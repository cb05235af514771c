//! Version: which edition of the relay contract we speak.

/// The relay contract's version. Within it fields are only ever added, so it is never
/// compared, only told.
pub const CONTRACT_VERSION: i64 = 1;
