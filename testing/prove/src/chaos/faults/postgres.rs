//! Stops PostgreSQL under load, and starts it again.

use std::thread;

use anyhow::Result;

use crate::chance::Dice;
use crate::chaos::world::World;
use crate::cluster::Cluster;

/// Stops PostgreSQL for a while (F13).
pub(super) fn stop(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    away(world, number, dice, Cluster::stop_immediate)
}

/// Kills PostgreSQL and starts it again (F14).
pub(super) fn kill(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    away(world, number, dice, Cluster::kill)
}

fn away(
    world: &mut World,
    number: &'static str,
    dice: &mut Dice,
    end: fn(&mut Cluster) -> Result<()>,
) -> Result<()> {
    let strike = world.strikes(number, "postgres");
    end(&mut world.cluster)?;
    thread::sleep(dice.between_ms(1_000, 5_000));
    world.cluster.start_again()?;
    world.healed(strike);
    Ok(())
}
