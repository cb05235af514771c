//! Close codes of a line, and whether the client should reconnect.

/// The reason why the desk closes a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Close {
    /// The gateway announced that it goes, and everything is settled.
    Done,
    /// This node stops; others continue.
    GoingAway,
    /// The client violates the protocol.
    Policy,
    /// The client sent a message over the limit.
    TooBig,
    /// The desk failed.
    Internal,
    /// This node restarts.
    Restarting,
    /// The desk cannot verify the client now.
    TryLater,
    /// The gateway's secret is no longer valid. This is final for the stock client, so the desk sends it only on proof.
    Revoked,
    /// A newer line took over the agent.
    Replaced,
}

impl Close {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::Done,
        Self::GoingAway,
        Self::Policy,
        Self::TooBig,
        Self::Internal,
        Self::Restarting,
        Self::TryLater,
        Self::Revoked,
        Self::Replaced,
    ];

    /// Returns the code on the wire.
    pub const fn code(self) -> u16 {
        match self {
            Self::Done => 1000,
            Self::GoingAway => 1001,
            Self::Policy => 1008,
            Self::TooBig => 1009,
            Self::Internal => 1011,
            Self::Restarting => 1012,
            Self::TryLater => 1013,
            Self::Revoked => 4401,
            Self::Replaced => 4409,
        }
    }

    /// Returns the text on the wire, for people.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::GoingAway => "going away",
            Self::Policy => "policy violation",
            Self::TooBig => "message too big",
            Self::Internal => "internal error",
            Self::Restarting => "restarting",
            Self::TryLater => "try again later",
            Self::Revoked => "revoked",
            Self::Replaced => "replaced by a newer line",
        }
    }

    /// Returns the reason of a code, if the desk uses it.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|close| close.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_again() {
        for close in Close::ALL {
            assert_eq!(Close::from_code(close.code()), Some(close));
        }
        assert_eq!(Close::from_code(1005), None);
    }

    #[test]
    fn a_reason_fits_into_a_close_frame() {
        const CLOSE_REASON_BYTES_MAX: usize = 123;

        for close in Close::ALL {
            assert!(close.reason().len() <= CLOSE_REASON_BYTES_MAX, "{close:?}");
        }
    }
}
