//! Blocks all threads on which a node runs its tasks.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::world::World;
use crate::crash_points::blocking;
use crate::stage::DATABASE;

/// Time for which the threads are blocked: shorter than a lease.
const BLOCKED: Duration = Duration::from_secs(5);

/// Maximum pass of the step at which they are.
const PASSINGS_MAX: usize = 40;

/// Time limit for the node to reach the step, and to go on afterwards.
const PATIENCE: Duration = Duration::from_mins(1);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Blocks the threads of a node (F12). Its lease has a thread of its own, so the node keeps it.
pub(super) fn block(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let mut strike = world.strikes(number, world.nodes[node].name());
    world.nodes[node].kill()?;
    let before = blocks(world, node)?;
    let block = blocking("K1", 1 + dice.below(PASSINGS_MAX), BLOCKED);
    world.nodes[node].start_with(&[block])?;
    until_logged(world, node, before.begun, |blocks| blocks.begun)?;
    strike.at_ns = monotonic_ns();
    let life = life(world, node)?;
    until_logged(world, node, before.over, |blocks| blocks.over)?;
    let (has_ended, after) = (world.nodes[node].has_ended()?, self::life(world, node)?);
    ensure!(!has_ended && after == life, "a node whose tasks stood still lost its lease: {after}");
    world.healed(strike);
    Ok(())
}

/// Number of blocks that a node's log names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blocks {
    begun: usize,
    over: usize,
}

fn blocks(world: &World, node: usize) -> Result<Blocks> {
    Ok(blocks_in(&world.nodes[node].log()?))
}

fn blocks_in(log: &str) -> Blocks {
    let count = |text: &str| log.lines().filter(|line| *line == text).count();
    Blocks { begun: count("blocks its threads"), over: count("blocks its threads no more") }
}

fn until_logged(world: &World, node: usize, before: usize, of: fn(Blocks) -> usize) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while of(blocks(world, node)?) <= before {
        ensure!(Instant::now() < deadline, "the threads of a node are not blocked, or for ever");
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Returns the epoch of a node's life, and whether it is over.
fn life(world: &World, node: usize) -> Result<String> {
    let name = world.nodes[node].name();
    world.cluster.ask(DATABASE, &format!("select epoch, is_over from nodes where node = '{name}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_names_the_blocks() {
        let log = "blocks at desk::event_verified:3:5000\nblocks its threads\nINFO hello\n\
                   blocks its threads no more\nblocks its threads\n";

        assert_eq!(blocks_in(log), Blocks { begun: 2, over: 1 });
    }
}
