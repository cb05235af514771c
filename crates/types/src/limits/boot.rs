//! Limits of a line whose client is still booting.

use std::time::Duration;

/// Minimum time after the descriptor before a new line gets its first entry. A stock client that is still booting
/// acknowledges earlier entries and loses them.
pub const HOLD_BACK: Duration = BOOT_PING_GAP.saturating_mul(BOOT_PINGS);

/// Pings that a booting client must answer before its first entry.
pub const BOOT_PINGS: u32 = 6;

/// Pause between a pong of a booting client and the next ping, and after the last pong.
pub const BOOT_PING_GAP: Duration = Duration::from_millis(500);

/// Time after which a client that answers no pings gets its first entry.
pub const BOOT_MAX: Duration = Duration::from_secs(15);

/// Time within which a gateway counts as the same process after the desk closed its previous line for a restart. Such a
/// gateway is not held back. A line that ended for another reason proves nothing: a killed client can be up again
/// within a second.
pub const SAME_PROCESS: Duration = Duration::from_millis(1_500);
