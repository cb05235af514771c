//! Planted bugs: mistakes made on purpose, so that a check can be seen to catch them.
//!
//! They exist only in builds with the feature `planted`, and there only the one named at
//! start is active. Without the feature every question is answered *no* at compile time. The
//! same builds can be told at which step to die, and to be the release after this one.

/// The mistakes that can be planted, by their number in the list of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// X1: the source is told "ok" before the commit.
    AckBeforeCommit,
    /// X2: what does not fit into a line's window is dropped.
    DropOnFullWindow,
    /// X3: entries are numbered by a sequence, not by their inbox's head.
    CursorBySequence,
    /// X4: an event is a duplicate if a later one was seen.
    DedupeByMark,
    /// X5: an owner's writes are not refused when its epoch is old.
    NoFenceOnCommit,
    /// X6: what was acknowledged is handed over again.
    HandOverAfterAck,
    /// X7: an entry has another id each time it is handed over.
    NewIdPerTry,
    /// X8: two readers hand one inbox over at once.
    TwoDrains,
    /// X9: an event goes to any agent of the right tenant.
    RouteByTenant,
    /// X10: a gateway is told that it is revoked when the store is down.
    RevokedOnStoreError,
    /// X11: each try to tell an agent of a fire has an id of its own.
    NewFirePerTry,
    /// X12: when a job is due is decided by the node's clock.
    DueByWallClock,
    /// X13: only agents that said they go idle are woken.
    WakeAfterGoodbye,
    /// X14: a connection goes back to the pool with its transaction open.
    NoRollback,
    /// X15: what the bell says is taken for the entry, and nobody looks.
    BodiesOnTheBell,
    /// X16: only names are checked before a call, not addresses.
    ResolverOnly,
    /// X17: a stop goes to every line.
    StopForAll,
    /// X18: a capability is anybody's of the right tenant.
    CapabilityByTenant,
    /// X19: tenants are told apart by nobody.
    NoWall,
    /// X20: a revocation is only rung.
    RevokedByBellOnly,
    /// X21: the wall lets one tenant of a batch through.
    OneTenantWall,
    /// X22: a source's batches are spread over several writers.
    SourceOnTwoWriters,
    /// X23: a change of who may reach whom makes what the gate keeps pass for new, and stay as it was.
    GateNeverForgets,
    /// X24: a letter that is sent again is another letter.
    EveryTryIsALetter,
    /// X25: a reply counts also after its exchange has timed out.
    LateReplyCounts,
    /// X26: what one tenant grants lets letters pass between two.
    OneSideGrants,
    /// X27: a skill that is changed is overwritten, and what it said before is gone.
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

    /// Its number in the list of promises.
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
    /// Answers whether there is such a bug and no other was planted before.
    pub fn plant(number: &str) -> bool {
        let found = Bug::ALL.into_iter().find(|bug| bug.number() == number);
        found.is_some_and(|bug| PLANTED.set(bug).is_ok())
    }

    /// Whether this bug is planted.
    pub fn is_planted(bug: Bug) -> bool {
        PLANTED.get() == Some(&bug)
    }

    static CRASH: OnceLock<(String, AtomicU32)> = OnceLock::new();

    /// Has the process die when it passes a point for the so-manieth time: `K4:17`.
    ///
    /// Answers whether that could be read and nothing was said before.
    pub fn crash_at(text: &str) -> bool {
        let crash = text.split_once(':').and_then(|(point, passing)| {
            Some((point.to_owned(), AtomicU32::new(passing.parse().ok()?)))
        });
        crash.is_some_and(|crash| CRASH.set(crash).is_ok())
    }

    /// A point at which the process may be told to die, as if it were killed.
    pub fn crash_point(point: &str) {
        let Some((at, passings)) = CRASH.get() else { return };
        if at == point && passings.fetch_sub(1, Ordering::Relaxed) == 1 {
            std::process::abort();
        }
    }

    static NEXT: OnceLock<PathBuf> = OnceLock::new();

    /// Makes this process the next release, whose further migrations are in this folder.
    ///
    /// Answers whether nothing was said before.
    pub fn be_next_release(migrations: &Path) -> bool {
        NEXT.set(migrations.to_owned()).is_ok()
    }

    /// Where the next release's further migrations are, if this process is that release.
    pub fn next_release() -> Option<&'static Path> {
        NEXT.get().map(PathBuf::as_path)
    }
}

#[cfg(feature = "planted")]
pub use active::{be_next_release, crash_at, crash_point, is_planted, next_release, plant};

/// A point at which the process may be told to die: never, in this build.
#[cfg(not(feature = "planted"))]
pub const fn crash_point(_point: &str) {}

/// Where the next release's further migrations are: this build is no other than itself.
#[cfg(not(feature = "planted"))]
pub const fn next_release() -> Option<&'static std::path::Path> {
    None
}

/// Whether this bug is planted: never, in this build.
#[cfg(not(feature = "planted"))]
pub const fn is_planted(_bug: Bug) -> bool {
    false
}
