//! Limits of a client that boots.

use std::time::Duration;

/// How long a fresh line gets nothing after its descriptor, at least: a stock client that boots acknowledges
/// earlier entries and loses them.
pub const HOLD_BACK: Duration = BOOT_PING_GAP.saturating_mul(BOOT_PINGS);

/// A client that boots must answer this many pings before the first entry.
pub const BOOT_PINGS: u32 = 6;

/// Between a pong of a client that boots and the next ping. Also the wait after the last pong.
pub const BOOT_PING_GAP: Duration = Duration::from_millis(500);

/// A client that does not answer pings gets its first entry after this.
pub const BOOT_MAX: Duration = Duration::from_secs(15);

/// A gateway whose previous line the desk closed less than this ago, to restart, is still the same
/// process, and is not held back. A line that ended otherwise proves nothing: a killed client can
/// be up again within a second.
pub const SAME_PROCESS: Duration = Duration::from_millis(1_500);
