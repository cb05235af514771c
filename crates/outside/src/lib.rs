//! Outside: the one guarded way to addresses that tenants name.
//!
//! Whoever gives us a URL chooses where we connect to. So wake calls, callbacks and whatever else
//! goes to such a URL go through [`Outside::call`], and nothing else in the desk dials for a tenant.
//!
//! # Promise
//!
//! No connection is made to an address that is not public, unless the operator's [`Rules`] name it:
//! however it is spelled, whatever the name service answers, and wherever a reply points. A call ends
//! within five seconds, reads at most 4 KiB, and is one of few: by host, by address and by tenant.
//!
//! Begin with `client.rs`, which is the way of a call on one page. What may be called is
//! decided in `address.rs` (what is public) and `rules.rs` (what the operator allows besides).

mod call;
mod client;
mod tenant_url;
mod refused;
mod rules;
mod address;
mod pace;
mod places;
mod names;
mod dial;
mod tls;
mod exchange;

pub use address::Special;
pub use call::{Call, CallError, Method, Reply};
pub use client::{Outside, SetUpError};
pub use refused::Refused;
pub use rules::{HostRate, Rules};
pub use tenant_url::TenantUrl;
