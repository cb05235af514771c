//! Stops a process of gateways with SIGSTOP while its lines are open.

use std::thread;

use anyhow::Result;

use crate::chance::Dice;
use crate::chaos::means::Stopped;
use crate::chaos::plan::GATEWAY_PROCESSES;
use crate::chaos::world::World;

/// Freezes a gateway process (F06).
pub(super) fn freeze(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let process = dice.below(GATEWAY_PROCESSES);
    let pid = world.gateways_pid(process);
    let strike = world.strikes(number, "gateway");
    let stopped = Stopped::stop(vec![pid])?;
    thread::sleep(dice.between_ms(5_000, 8_000));
    drop(stopped);
    world.healed(strike);
    Ok(())
}
