//! Makes clients close their connections in the middle of their requests.

use anyhow::Result;

use crate::chance::Dice;
use crate::chaos::platform::Order;
use crate::chaos::world::World;

/// Duration of the fault.
const LASTS_MS: u64 = 5_000;

/// Makes clients hang up (F24).
pub(super) fn rage(world: &mut World, number: &'static str, _: &mut Dice) -> Result<()> {
    let strike = world.strikes(number, "platform");
    world.platform(&Order::Storm(LASTS_MS))?;
    world.healed(strike);
    Ok(())
}
