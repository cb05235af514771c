//! Stops Redis, the bell between the nodes, under load, and starts it empty.

use std::thread;

use anyhow::{Context, Result};

use crate::chance::Dice;
use crate::chaos::world::World;

/// Stops Redis for a while (F25).
pub(super) fn stop(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let strike = world.strikes(number, "redis");
    let redis = world.redis.as_mut().context("there is no Redis")?;
    redis.stop()?;
    thread::sleep(dice.between_ms(2_000, 6_000));
    redis.start_again()?;
    world.healed(strike);
    Ok(())
}
