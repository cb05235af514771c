//! Lists the faults that can be injected into a world, one file each.
//!
//! A new fault is a file with a function and a row in [`ALL`].

mod owners;
mod nodes;
mod scarce;
mod executor;
mod surroundings;
mod held_post;
mod crash_points;
mod key_rotation;
mod frozen_gateway;
mod idle;
mod failover;
mod postgres;
mod busy_postgres;
mod broken_disk;
mod hang_ups;
mod bell;
mod partitions;
mod packet_loss;
mod slow_network;
mod resets;
mod revocation;
mod clock;

use std::fmt;

use anyhow::{Context, Result};

use super::means::PacketFilter;
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
    /// Its cost, which decides whether a short run has it.
    pub pace: Pace,
}

type Strikes = fn(&mut World, &'static str, &mut Dice) -> Result<()>;

/// The cost of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It is over in a few seconds.
    Quick,
    /// It takes one node a few seconds to die at a step; other nodes can die at other steps in the meantime.
    CrashPoint,
    /// It takes longer, and is in long runs only.
    Slow,
}

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
pub const ALL: [Fault; 59] = [
    always("F01", "the owner of a bot is killed in a call", owners::kill).together(),
    always("F02", "a node is killed", nodes::kill_one),
    always("F03", "all nodes are killed", nodes::kill_all),
    always("F05", "the owner of a bot stands still for too long", owners::pause).together(),
    always("F06", "some gateways are frozen", frozen_gateway::freeze),
    always("F07", "gateways are frozen as they go idle", idle::freeze).slow(),
    always("F09", "a node has little processor time", scarce::slow_processor)
        .when(|_| scarce::can_slow_processor()),
    always("F10", "the kernel ends a node for want of memory", scarce::out_of_memory)
        .when(|_| scarce::can_limit_memory()),
    always("F11", "a node may open no more files", scarce::few_files),
    always("F12", "all threads of a node are blocked", executor::block),
    always("F13", "PostgreSQL is stopped at once", postgres::stop),
    always("F14", "PostgreSQL is killed", postgres::kill),
    always("F15", "PostgreSQL stands still", busy_postgres::stand_still).slow(),
    always("F16", "connections to PostgreSQL are ended", busy_postgres::end_connections),
    always("F18", "PostgreSQL has no connections left", busy_postgres::take_connections).slow(),
    always("F19", "the disk of PostgreSQL's log is full", broken_disk::fill)
        .when(broken_disk::can_fill)
        .slow(),
    always("F20", "PostgreSQL's disk fails", broken_disk::fail_to_store)
        .when(broken_disk::can_fail_to_store)
        .slow(),
    always("F21", "PostgreSQL is slow", slow_network::slow_database).slow(),
    SYNC_FAILOVER.slow(),
    always("F24", "clients hang up in the middle", hang_ups::rage),
    always("F25", "Redis goes away and comes back empty", bell::stop).when(has_redis),
    always("F26", "Redis stands still", bell::stand_still).when(has_redis),
    always("F27", "subscriptions to Redis are ended", bell::end_subscriptions).when(has_redis),
    always("F31", "a node is cut off", partitions::cut_off).together(),
    always("F32", "a node is cut off in one direction", packet_loss::one_way)
        .when(|world| world.nodes.len() > 1 && PacketFilter::is_possible())
        .slow(),
    always("F33", "packets are lost", packet_loss::lose_some).when(|_| PacketFilter::is_possible()),
    always("F34", "the network is slow", slow_network::slow_down),
    always("F35", "lines are reset", resets::reset),
    always("F36", "lines are half open", packet_loss::half_open)
        .when(|world| world.nodes.len() > 1 && PacketFilter::is_possible())
        .slow(),
    always("F37", "nodes are cut off and mended in a wave", partitions::swizzle).slow(),
    always("F39", "a node's clock jumps", clock::jump).when(|_| clock::is_possible()),
    always("F39b", "PostgreSQL's clock jumps", clock::jump_of_database)
        .when(|_| clock::is_possible())
        .slow(),
    always("F50", "nothing reads a node's log", surroundings::log_unread),
    always("F51", "a node's disk is full or read-only", surroundings::no_disk)
        .when(surroundings::can_fill_disk),
    always("F52", "a node is killed while it posts entries", held_post::kill)
        .when(|world| world.nodes.len() > 1 && world.has_posted()),
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
    always("K16", "a node dies before it listens to a platform", crash_points::die_taking)
        .when(has_heirs)
        .slow(),
    always("K17", "a node dies after it began a session", crash_points::die_taking)
        .when(has_heirs)
        .slow(),
    crash("K18", "a node dies before it calls an agent"),
    crash("K19", "a node dies after it called an agent"),
    crash("K20", "a node dies before it tells an agent that it is time").when(World::has_jobs),
    crash("K21", "a node dies after an agent took a fire").when(World::has_jobs),
    crash("K22", "a node dies after it wrote down that a fire was taken").when(World::has_jobs),
    always("K23", "a key rotation dies between two batches", key_rotation::die),
    always("K24", "a node dies after it revoked a gateway", revocation::die).together(),
];

/// The failover to a standby that has every commit.
pub const SYNC_FAILOVER: Fault =
    always("F22", "a synchronous standby is promoted", failover::to_synchronous);

/// The failover to a standby that lacks the last seconds. It takes commits away, so most promises have exceptions, and
/// it is in no other run.
pub const ASYNC_FAILOVER: Fault =
    always("F22", "a standby that lags is promoted", failover::to_lagging);

const fn always(number: &'static str, what: &'static str, strike: Strikes) -> Fault {
    Fault { number, what, strike, possible: |_| true, pace: Pace::Quick }
}

const fn crash(number: &'static str, what: &'static str) -> Fault {
    Fault { pace: Pace::CrashPoint, ..always(number, what, crash_points::die) }
}

fn has_redis(world: &World) -> bool {
    world.redis.is_some()
}

/// Returns true if some node owns no bot that listens: there are two such bots.
fn has_heirs(world: &World) -> bool {
    world.has_street() && world.nodes.len() > 2
}

impl Fault {
    /// A fault that is possible only under a condition.
    const fn when(self, possible: fn(&World) -> bool) -> Self {
        Self { possible, ..self }
    }

    /// A fault that only another node can heal.
    const fn together(self) -> Self {
        self.when(|world| world.nodes.len() > 1)
    }

    const fn slow(self) -> Self {
        Self { pace: Pace::Slow, ..self }
    }
}

/// Injects these crash points at the same time, each into a different node.
pub(super) fn strike_at_once(world: &mut World, faults: &[Fault], dice: &mut Dice) -> Result<()> {
    crash_points::die_at_once(world, faults, dice)
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
    /// Parses `none`, `all`, `quick`, or numbers separated by commas.
    pub fn read(list: &str) -> Result<Self> {
        let every = |faults: &dyn Fn(&Fault) -> bool| Self {
            faults: ALL.into_iter().filter(faults).collect(),
            odd_manners: true,
            odd_targets: true,
        };
        match list {
            "none" => Ok(Self::default()),
            "all" => Ok(every(&|_| true)),
            "quick" => Ok(every(&|fault| fault.pace != Pace::Slow)),
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
    use std::collections::BTreeSet;

    use super::*;

    /// Minimum number of different faults in a short run.
    const QUICK_MIN: usize = 42;

    #[test]
    fn every_fault_has_its_own_number() {
        let numbers: BTreeSet<&str> = ALL.iter().map(|fault| fault.number).collect();

        assert_eq!(numbers.len(), ALL.len());
    }

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
        assert!(numbers("quick").0.len() >= QUICK_MIN);
        assert!(!numbers("quick").0.contains(&"F36"), "it takes most of a minute");
        assert!(Wanted::read("F999").is_err());
    }
}
