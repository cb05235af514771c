//! Close: why a line ends, and whether its client should come back.

/// Why the desk closes a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Close {
    /// The gateway said it would go, and everything is settled.
    Done,
    /// This node stops; others go on.
    GoingAway,
    /// The client does what no client should.
    Policy,
    /// The client sent more than fits.
    TooBig,
    /// Something failed on our side.
    Internal,
    /// This node starts anew.
    Restarting,
    /// We cannot tell just now whether the client is welcome.
    TryLater,
    /// The gateway's secret is not good any more. For the stock client this is final, so it is
    /// only ever sent on proof.
    Revoked,
    /// A newer line speaks for the agent.
    Replaced,
}

impl Close {
    /// Every reason there is.
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

    /// Its code on the wire.
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

    /// Its text on the wire, for people.
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

    /// Whether the client should dial again by itself.
    pub const fn should_come_back(self) -> bool {
        match self {
            Self::GoingAway | Self::TooBig | Self::Internal | Self::Restarting | Self::TryLater => {
                true
            }
            // Two lines that replace each other would never end.
            Self::Done | Self::Policy | Self::Revoked | Self::Replaced => false,
        }
    }

    /// The reason a code stands for, if it is one of ours.
    pub fn of_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|close| close.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_again() {
        for close in Close::ALL {
            assert_eq!(Close::of_code(close.code()), Some(close));
        }
        assert_eq!(Close::of_code(1005), None);
    }

    #[test]
    fn a_reason_fits_into_a_close_frame() {
        const CLOSE_REASON_BYTES_MAX: usize = 123;

        for close in Close::ALL {
            assert!(close.reason().len() <= CLOSE_REASON_BYTES_MAX, "{close:?}");
        }
    }
}
