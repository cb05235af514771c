//! Lists the faults that can be injected into a world, one file each.
//!
//! A new fault is a file with a function and a row in [`ALL`].

mod owners;
mod nodes;
mod crash_points;
mod frozen_gateway;
mod idle;
mod failover;
mod postgres;
mod hang_ups;
mod bell;
mod partitions;
mod resets;
mod clock;

use std::fmt;

use anyhow::{Context, Result};

use super::world::World;
use crate::chance::Dice;

/// A fault that can be injected into a world.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Its number in the list of promises.
    pub number: &'static str,
    /// Description.
    pub what: &'static str,
    /// Injects the fault, and returns when it is over. The first argument after the world is its number.
    pub strike: Strikes,
    /// Reports whether the fault is possible on this machine and in this world.
    pub possible: fn(&World) -> bool,
}

type Strikes = fn(&mut World, &'static str, &mut Dice) -> Result<()>;

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.number, self.what)
    }
}

/// The gateways' manners are also a fault, which lasts for the whole run: with this number a run has all manners.
pub const MANNERS: &str = "F46";

/// The manners of job targets are also a fault.
pub const TARGETS: &str = "F45";

/// All faults.
pub const ALL: [Fault; 33] = [
    together("F01", "the owner of a bot is killed in a call", owners::kill),
    always("F02", "a node is killed", nodes::kill_one),
    always("F03", "all nodes are killed", nodes::kill_all),
    together("F05", "the owner of a bot stands still for too long", owners::pause),
    always("F06", "some gateways are frozen", frozen_gateway::freeze),
    always("F07", "gateways are frozen as they go idle", idle::freeze),
    always("F13", "PostgreSQL is stopped at once", postgres::stop),
    always("F14", "PostgreSQL is killed", postgres::kill),
    always("F24", "clients hang up in the middle", hang_ups::rage),
    Fault {
        number: "F25",
        what: "Redis goes away and comes back empty",
        strike: bell::stop,
        possible: |world| world.redis.is_some(),
    },
    together("F31", "a node is cut off", partitions::cut_off),
    always("F35", "lines are reset", resets::reset),
    Fault {
        number: "F39",
        what: "a node's clock jumps",
        strike: clock::jump,
        possible: |_| clock::is_possible(),
    },
    crash("K1", "a node dies after it verified an event"),
    crash("K2", "a node dies before it writes events"),
    crash("K3", "a node dies before the commit"),
    crash("K4", "a node dies after the commit"),
    crash("K5", "a node dies before it rings the bell"),
    crash("K6", "a node dies after it rang the bell"),
    crash("K7", "a node dies before it hands an entry over"),
    crash("K8", "a node dies after it handed an entry over"),
    crash("K9", "a node dies before it writes an ack"),
    crash("K10", "a node dies after it wrote an ack"),
    crash("K11", "a node dies between two pages of a drain"),
    crash("K12", "a node dies where a drain becomes live"),
    always("K13", "a node dies before it calls a platform", crash_points::die_calling),
    always("K14", "a node dies after it called a platform", crash_points::die_calling),
    always("K15", "a node dies after it wrote down an answer", crash_points::die_calling),
    crash("K18", "a node dies before it calls an agent"),
    crash("K19", "a node dies after it called an agent"),
    firing("K20", "a node dies before it tells an agent that it is time"),
    firing("K21", "a node dies after an agent took a fire"),
    firing("K22", "a node dies after it wrote down that a fire was taken"),
];

/// The failover to a standby that has every commit. It is in no other run, because it needs a standby.
pub const SYNC_FAILOVER: Fault =
    always("F22", "a synchronous standby is promoted", failover::to_synchronous);

/// The failover to a standby that lacks the last seconds. It takes commits away, so most promises have exceptions.
pub const ASYNC_FAILOVER: Fault =
    always("F22", "a standby that lags is promoted", failover::to_lagging);

const fn always(number: &'static str, what: &'static str, strike: Strikes) -> Fault {
    Fault { number, what, strike, possible: |_| true }
}

/// A fault that only another node can heal.
const fn together(number: &'static str, what: &'static str, strike: Strikes) -> Fault {
    Fault { number, what, strike, possible: |world| world.nodes.len() > 1 }
}

const fn crash(number: &'static str, what: &'static str) -> Fault {
    always(number, what, crash_points::die)
}

/// A fault that needs agents with jobs.
const fn firing(number: &'static str, what: &'static str) -> Fault {
    Fault { number, what, strike: crash_points::die_firing, possible: World::has_jobs }
}

/// The faults of a run.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Faults to inject, in this order.
    pub faults: Vec<Fault>,
    /// True if gateways have odd manners.
    pub odd_manners: bool,
    /// True if the targets of fires answer oddly.
    pub odd_targets: bool,
}

impl Wanted {
    /// Parses `none`, `all`, or numbers separated by commas.
    pub fn read(list: &str) -> Result<Self> {
        match list {
            "none" => Ok(Self::default()),
            "all" => Ok(Self { faults: ALL.to_vec(), odd_manners: true, odd_targets: true }),
            numbers => {
                let numbers: Vec<&str> = numbers.split(',').collect();
                let lasts = |number: &&&str| [MANNERS, TARGETS].contains(*number);
                let faults = numbers.iter().filter(|number| !lasts(number)).map(|number| {
                    let found = ALL.iter().find(|fault| fault.number == *number);
                    found.copied().with_context(|| format!("there is no fault {number}"))
                });
                Ok(Self {
                    faults: faults.collect::<Result<_>>()?,
                    odd_manners: numbers.contains(&MANNERS),
                    odd_targets: numbers.contains(&TARGETS),
                })
            }
        }
    }

    /// Returns true if there are no faults at all.
    pub const fn is_none(&self) -> bool {
        self.faults.is_empty() && !self.odd_manners && !self.odd_targets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_wanted() {
        let numbers = |list| {
            let wanted = Wanted::read(list).unwrap();
            let numbers: Vec<_> = wanted.faults.iter().map(|fault| fault.number).collect();
            (numbers, wanted.odd_manners)
        };

        assert_eq!(numbers("none"), (vec![], false));
        assert_eq!(numbers("K4,F46,F02"), (vec!["K4", "F02"], true));
        assert_eq!(numbers("all").0.len(), ALL.len());
        assert!(Wanted::read("F999").is_err());
    }
}
