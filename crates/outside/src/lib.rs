//! The single guarded client for addresses that tenants set.
//!
//! A tenant's URL decides where the desk connects to. So wake calls, callbacks and all other calls to such a URL go
//! through [`Outside::call`], and no other part of the desk dials for a tenant.
//!
//! # Promise
//!
//! No connection is made to an address that is not public, unless the operator's [`Rules`] name it: in any spelling,
//! for any DNS answer, and for any redirect. A call ends within five seconds and reads at most 4 KiB; the post of an
//! entry may last as long as a turn of its agent. Both are limited by host, by address and by tenant.
//!
//! Begin with `client.rs`, which is a call on one page. `address.rs` decides which addresses are public and `rules.rs`
//! which others the operator allows.

mod call;
mod client;
mod host;
mod tenant_url;
mod refusal;
mod rules;
mod address;
mod call_limits;
mod permits;
mod resolver;
mod dial;
mod tls;
mod exchange;

pub use address::SpecialRange;
pub use call::{CallError, CallResponse, FormPost, Method, OutsideCall, WebhookPost};
pub use client::Outside;
pub use refusal::UrlRefusal;
pub use rules::{HostRate, Rules, SetUpError};
pub use tenant_url::TenantUrl;

/// Entry points for fuzzers.
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
