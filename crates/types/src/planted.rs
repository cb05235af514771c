//! Planted bugs: deliberate faults, so that a check can be seen to catch them.
//!
//! They exist only in builds with the feature `planted`, and only the bug named at start is active. Without the
//! feature, every query returns false at compile time. The same builds can be set to crash at a named point, or to act
//! as the next release.

/// The bugs that can be planted, by their number in the list of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// X1: the source gets "ok" before the commit.
    AckBeforeCommit,
    /// X2: entries that do not fit into a line's window are dropped.
    DropOnFullWindow,
    /// X3: entries are numbered by a sequence, not by their inbox's head.
    CursorBySequence,
    /// X4: an event is a duplicate if a later one was seen.
    DedupeByMark,
    /// X5: the store does not refuse an owner's writes with an old epoch.
    NoFenceOnCommit,
    /// X6: an acknowledged entry is delivered again.
    HandOverAfterAck,
    /// X7: an entry has another id at each delivery.
    NewIdPerTry,
    /// X8: two readers deliver one inbox at the same time.
    TwoDrains,
    /// X9: an event goes to any agent of the right tenant.
    RouteByTenant,
    /// X10: a gateway is closed as revoked when the store is down.
    RevokedOnStoreError,
    /// X11: each try of a fire has its own id.
    NewFirePerTry,
    /// X12: the node's clock decides when a job is due.
    DueByWallClock,
    /// X13: only agents that announced that they go idle are woken.
    WakeAfterGoodbye,
    /// X14: a connection goes back to the pool with its transaction open.
    NoRollback,
    /// X15: the content of a hint is used as the entry, and the table is not read.
    BodiesOnTheBell,
    /// X16: only names are checked before a call, not addresses.
    ResolverOnly,
    /// X17: a stop goes to every line.
    StopForAll,
    /// X18: any agent of the right tenant may use a capability.
    CapabilityByTenant,
    /// X19: tenants are not separated.
    NoWall,
    /// X20: a revocation is announced only on the bell.
    RevokedByBellOnly,
    /// X21: the tenant check lets one foreign tenant of a batch through.
    OneTenantWall,
    /// X22: a source's batches are spread over several writers.
    SourceOnTwoWriters,
    /// X23: a change of reach marks the gate's cache as new without changing it.
    GateNeverForgets,
    /// X24: a repeated letter becomes another letter.
    EveryTryIsALetter,
    /// X25: a reply counts even after its exchange has timed out.
    LateReplyCounts,
    /// X26: a grant of one tenant alone lets letters pass between two tenants.
    OneSideGrants,
    /// X27: a changed skill is overwritten, and its earlier version is lost.
    OverwrittenInPlace,
}

impl Bug {
    /// Every bug that can be planted.
    pub const ALL: [Self; 27] = [
        Self::AckBeforeCommit,
        Self::DropOnFullWindow,
        Self::CursorBySequence,
        Self::DedupeByMark,
        Self::NoFenceOnCommit,
        Self::HandOverAfterAck,
        Self::NewIdPerTry,
        Self::TwoDrains,
        Self::RouteByTenant,
        Self::RevokedOnStoreError,
        Self::NewFirePerTry,
        Self::DueByWallClock,
        Self::WakeAfterGoodbye,
        Self::NoRollback,
        Self::BodiesOnTheBell,
        Self::ResolverOnly,
        Self::StopForAll,
        Self::CapabilityByTenant,
        Self::NoWall,
        Self::RevokedByBellOnly,
        Self::OneTenantWall,
        Self::SourceOnTwoWriters,
        Self::GateNeverForgets,
        Self::EveryTryIsALetter,
        Self::LateReplyCounts,
        Self::OneSideGrants,
        Self::OverwrittenInPlace,
    ];

    /// Returns its number in the list of promises.
    pub const fn number(self) -> &'static str {
        match self {
            Self::AckBeforeCommit => "X1",
            Self::DropOnFullWindow => "X2",
            Self::CursorBySequence => "X3",
            Self::DedupeByMark => "X4",
            Self::NoFenceOnCommit => "X5",
            Self::HandOverAfterAck => "X6",
            Self::NewIdPerTry => "X7",
            Self::TwoDrains => "X8",
            Self::RouteByTenant => "X9",
            Self::RevokedOnStoreError => "X10",
            Self::NewFirePerTry => "X11",
            Self::DueByWallClock => "X12",
            Self::WakeAfterGoodbye => "X13",
            Self::NoRollback => "X14",
            Self::BodiesOnTheBell => "X15",
            Self::ResolverOnly => "X16",
            Self::StopForAll => "X17",
            Self::CapabilityByTenant => "X18",
            Self::NoWall => "X19",
            Self::RevokedByBellOnly => "X20",
            Self::OneTenantWall => "X21",
            Self::SourceOnTwoWriters => "X22",
            Self::GateNeverForgets => "X23",
            Self::EveryTryIsALetter => "X24",
            Self::LateReplyCounts => "X25",
            Self::OneSideGrants => "X26",
            Self::OverwrittenInPlace => "X27",
        }
    }
}

#[cfg(feature = "planted")]
mod active {
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::Bug;

    static PLANTED: OnceLock<Bug> = OnceLock::new();

    /// Plants the bug of this number for the rest of the process.
    ///
    /// Returns true if the bug exists and no other was planted before.
    pub fn plant(number: &str) -> bool {
        let found = Bug::ALL.into_iter().find(|bug| bug.number() == number);
        found.is_some_and(|bug| PLANTED.set(bug).is_ok())
    }

    /// Returns true if this bug is planted.
    pub fn is_planted(bug: Bug) -> bool {
        PLANTED.get() == Some(&bug)
    }

    static CRASH: OnceLock<(String, AtomicU32)> = OnceLock::new();

    /// Sets the process to crash at the n-th pass of a point: `K4:17`.
    ///
    /// Returns true if the text is valid and no crash was set before.
    pub fn crash_at(text: &str) -> bool {
        let crash = text.split_once(':').and_then(|(point, passing)| {
            Some((point.to_owned(), AtomicU32::new(passing.parse().ok()?)))
        });
        crash.is_some_and(|crash| CRASH.set(crash).is_ok())
    }

    /// Aborts the process at this point if it was set to crash here.
    pub fn crash_point(point: &str) {
        let Some((at, passings)) = CRASH.get() else { return };
        if at == point && passings.fetch_sub(1, Ordering::Relaxed) == 1 {
            std::process::abort();
        }
    }

    static NEXT: OnceLock<PathBuf> = OnceLock::new();

    /// Makes this process act as the next release, with its further migrations in this folder.
    ///
    /// Returns true if no folder was set before.
    pub fn be_next_release(migrations: &Path) -> bool {
        NEXT.set(migrations.to_owned()).is_ok()
    }

    /// Returns the folder of the next release's migrations, if this process acts as that release.
    pub fn next_release() -> Option<&'static Path> {
        NEXT.get().map(PathBuf::as_path)
    }
}

#[cfg(feature = "planted")]
pub use active::{be_next_release, crash_at, crash_point, is_planted, next_release, plant};

/// Does nothing in this build.
#[cfg(not(feature = "planted"))]
pub const fn crash_point(_point: &str) {}

/// Returns `None` in this build.
#[cfg(not(feature = "planted"))]
pub const fn next_release() -> Option<&'static std::path::Path> {
    None
}

/// Returns false in this build.
#[cfg(not(feature = "planted"))]
pub const fn is_planted(_bug: Bug) -> bool {
    false
}
