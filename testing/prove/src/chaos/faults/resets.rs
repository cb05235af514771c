//! Resets some of the lines every second.

use std::thread;
use std::time::Duration;

use anyhow::Result;

use crate::chance::Dice;
use crate::chaos::gateways::Order;
use crate::chaos::world::World;

/// Number of rounds, and the range of the percentage of lines reset in each.
const ROUNDS: u64 = 5;
const PERCENT: (u64, u64) = (10, 40);

/// Resets lines (F35).
pub(super) fn reset(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let strike = world.strikes(number, "gateway");
    for _ in 0..ROUNDS {
        let percent = PERCENT.0 + dice.throw() % (PERCENT.1 - PERCENT.0);
        world.gateways(&Order::Reset(percent))?;
        thread::sleep(Duration::from_secs(1));
    }
    world.healed(strike);
    Ok(())
}
