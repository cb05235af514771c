//! Proves that the certificate of a desk can be replaced while it serves.
//!
//! It uses one desk that serves TLS with certificates of an authority of its own. While [`load`] dials over TLS and holds
//! lines of the SDK, the certificate is replaced again and again: by a signal or by the periodic look, and after a pair
//! that does not belong together. A failed dial or a line that ends fails the proof.

mod authority;
pub mod load;
mod world;

pub use authority::{IssuedCertificate, TestAuthority};
pub use world::TlsWorld;
