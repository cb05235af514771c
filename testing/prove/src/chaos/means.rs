//! Means of faults. Each undoes itself when it is dropped, also after a failure.

mod cgroup;
mod packets;
mod small_disk;
mod stopped;
mod wired;

pub(super) use cgroup::Cgroup;
pub(super) use packets::{PacketFilter, PacketLoss, Way};
pub(super) use small_disk::SmallDisk;
pub(super) use stopped::Stopped;
pub(super) use wired::Wires;
