//! Files by reference.
//!
//! # Promise
//!
//! An agent that got a file's reference can fetch the file while it is valid; no other agent can, even if it knows the
//! id. A platform's file stays on the platform: the bot's key, which gives access to it, never leaves the desk. Files on
//! their way use a bounded part of a node's memory, which tenants share. The desk removes only files that it wrote. An
//! uploaded file is sealed with a key of its own, which is part of its record.

mod sync;
mod content;
mod id;
mod memory_budget;
mod metrics;
mod object_path;
mod place;
mod store;
mod media;

pub use content::ContentKey;
pub use id::MediaId;
pub use media::{Media, MediaContent, MediaStream, UploadError, UploadLabel};
pub use memory_budget::{MemoryBusy, MemoryPermit, MemoryRequest};
pub use metrics::Metrics;
pub use place::{MediaPlace, MediaPlaceError, open_place};
pub use store::{MediaLocation, MediaRecord, ScopedAgent, Store};
