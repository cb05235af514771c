//! Kills nodes under load, and starts them again a moment later.

use std::thread;

use anyhow::Result;

use crate::chance::Dice;
use crate::chaos::world::World;

/// Kills one node (F02).
pub(super) fn kill_one(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let strike = world.strikes(number, world.nodes[node].name());
    world.nodes[node].kill()?;
    thread::sleep(dice.between_ms(200, 1_500));
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
}

/// Kills all nodes (F03).
pub(super) fn kill_all(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let strike = world.strikes(number, "node");
    for node in &mut world.nodes {
        node.kill()?;
    }
    thread::sleep(dice.between_ms(200, 1_500));
    for node in &mut world.nodes {
        node.start()?;
    }
    world.healed(strike);
    Ok(())
}
