//! Lists the deaths of an owner in their order.

use crate::crash_points;

/// A death of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Death {
    /// It is killed.
    Killed,
    /// It dies by itself at the given pass of a step.
    At(&'static str, usize),
    /// It dies by itself after it has taken over the bot and before it dials.
    Taking,
    /// It dies by itself after a new session has begun and before it is stored.
    Unstored,
}

/// Deaths before a commit, between two of one batch, and after one, alternating with plain kills. No node takes over
/// from an owner that dies before a `Taking`, so there are two more deaths than measured ones.
const ORDER: [Death; 22] = [
    Death::Killed,
    Death::Killed,
    Death::At("K4", 9),
    Death::Killed,
    Death::At("K3", 30),
    Death::Killed,
    Death::Taking,
    Death::Killed,
    Death::At("K6", 55),
    Death::Killed,
    Death::Unstored,
    Death::Killed,
    Death::At("K2", 21),
    Death::Killed,
    Death::At("K5", 40),
    Death::Killed,
    Death::Taking,
    Death::Killed,
    Death::At("K4", 17),
    Death::Killed,
    Death::Unstored,
    Death::Killed,
];

/// Returns deaths with `count` measured takeovers. With a mutant there are only kills: a desk with a bug may not
/// pass every step.
pub(super) fn all(count: usize, only_kills: bool) -> Vec<Death> {
    let mut deaths = Vec::new();
    let mut measured = 0;
    for death in ORDER.into_iter().cycle() {
        let is_extra = death == Death::Taking && !only_kills;
        if measured == count && !is_extra {
            break;
        }
        measured += usize::from(!is_extra);
        deaths.push(if only_kills { Death::Killed } else { death });
    }
    deaths
}

impl Death {
    /// Returns the environment variable that makes a node die this way.
    pub(super) fn environment(self) -> Option<(&'static str, String)> {
        let pass = match self {
            Self::Killed => return None,
            Self::At(_, pass) => pass,
            Self::Taking | Self::Unstored => 1,
        };
        Some(crash_points::environment(self.number(), pass))
    }

    /// Returns its number in the list of promises.
    pub(super) const fn number(self) -> &'static str {
        match self {
            Self::Killed => "F01",
            Self::At(point, _) => point,
            Self::Taking => "K16",
            Self::Unstored => "K17",
        }
    }

    /// Returns the number of new sessions that it costs: there is no READY before Discord has ended the session, and
    /// the unstored session is begun again.
    pub(super) const fn identifies(self) -> usize {
        match self {
            Self::Unstored => 2,
            Self::Killed | Self::At(..) | Self::Taking => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_taken_over_from_as_are_asked_for() {
        for count in [1, 4, 20] {
            let deaths = all(count, false);
            let taking = deaths.iter().filter(|death| **death == Death::Taking).count();
            assert_eq!(deaths.len() - taking, count);
            assert_ne!(deaths.last(), Some(&Death::Taking), "somebody must take over at last");
            assert_eq!(all(count, true), vec![Death::Killed; count]);
        }
    }
}
