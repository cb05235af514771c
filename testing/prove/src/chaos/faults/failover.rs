//! Kills PostgreSQL under load, and promotes its standby.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::chance::Dice;
use crate::chaos::world::World;
use crate::lost_commits;

/// Time limit for all nodes to begin to store their events again.
const BEGUN_WITHIN: Duration = Duration::from_mins(1);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Promotes a standby that has every commit (F22).
pub(super) fn to_synchronous(
    world: &mut World,
    number: &'static str,
    dice: &mut Dice,
) -> Result<()> {
    world.cluster.add_standby(true)?;
    thread::sleep(dice.between_ms(1_000, 3_000));
    let strike = world.strikes(number, "postgres");
    world.cluster.fail_over()?;
    world.healed(strike);
    Ok(())
}

/// Promotes a standby that lacks the last seconds.
pub(super) fn to_lagging(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    world.cluster.add_standby(false)?;
    world.cluster.cut_standby()?;
    thread::sleep(dice.between_ms(1_000, 4_000));
    let begun = count_begun(world)?;
    let strike = world.strikes(number, "postgres");
    world.cluster.fail_over()?;
    world.healed(strike);
    let deadline = Instant::now() + BEGUN_WITHIN;
    while count_begun(world)? < begun + world.nodes.len() {
        ensure!(Instant::now() < deadline, "a node did not store its events again");
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Returns how many times the nodes together began to store events again.
fn count_begun(world: &World) -> Result<usize> {
    let begun = world.nodes.iter().map(|node| Ok(lost_commits::count_begun(&node.log()?)));
    begun.sum()
}
