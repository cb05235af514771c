//! Code that the adapters of chat platforms share, so that an adapter has only what differs from the others.
//!
//! # Promise
//!
//! No URL, no key and no text of a platform is in an error of this crate: a platform's error texts may quote the
//! request, and its URLs may contain secrets. A call is made once, within limits of time and size.
//!
//! Begin with [`HttpClient`], which makes calls, and [`PlatformCallError`], which becomes the error of each interface in
//! [`nightdesk_port`]. [`webhook`] reads requests and [`signature`] checks them, [`socket`] opens `WebSockets`,
//! [`content`] and [`buttons`] convert messages in both directions, and
//! [`text`] checks texts of agents.

pub mod buttons;
mod client;
pub mod content;
mod errors;
mod holds;
#[cfg(feature = "fixtures")]
pub mod fixtures;
mod ops;
pub mod signature;
pub mod socket;
pub mod text;
pub mod webhook;

pub use client::{BaseUrl, HttpClient, PlatformResponse, file_part, send};
pub use errors::{ConnectError, OpenError, PlatformCallError, PlatformRefusal};
pub use holds::{RateLimit, RateLimitHolds};
pub use ops::chat_ops;
