//! Kills PostgreSQL under load, and promotes its standby.

use std::thread;

use anyhow::Result;

use crate::chance::Dice;
use crate::chaos::world::World;

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
    let strike = world.strikes(number, "postgres");
    world.cluster.fail_over()?;
    world.healed(strike);
    Ok(())
}
