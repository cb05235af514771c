//! Media: files by reference.
//!
//! # Promise
//!
//! Who was told of a file gets it for as long as it is good, and nobody else does, whatever they know
//! of its name. A file of a platform stays there: the bot's key, which leads to it, never leaves the
//! desk.

mod id;
mod place;
mod store;
mod stop;

pub use id::MediaId;
pub use place::{PlaceError, open};
pub use stop::{Media, Stream, TakeError, whole};
pub use store::{Agent, Kept, Lies, Store};
