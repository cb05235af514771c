//! Cuts off a node: from PostgreSQL until other nodes consider it dead, from Redis, and from gateways and platforms.

use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::owners::taken_for_dead;
use crate::chance::Dice;
use crate::chaos::means::Wires;
use crate::chaos::wires::Condition;
use crate::chaos::world::World;

/// Time limit for the node to end after other nodes consider it dead. The machine may be busy.
pub(super) const ENDS_WITHIN: Duration = Duration::from_secs(45);

/// Duration of a cut from anything other than PostgreSQL.
const CUT_MS: (u64, u64) = (3_000, 5_000);

/// Range of the pause between two nodes of a wave of cuts. All three together are shorter than a lease.
const WAVE_MS: (u64, u64) = (300, 1_500);

/// Cuts off a node (F31). A node must be started anew with wires around it. Each wire is cut once.
pub(super) fn cut_off(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let name = world.nodes[node].name().to_owned();
    let mut wires = Wires::around(world, node, number)?;
    from_postgres(world, number, &mut wires)?;
    for (wire, what) in [(wires.redis, "redis"), (Some(wires.public), "gateway")] {
        let Some(wire) = wire else { continue };
        let mut strike = world.strikes(number, &format!("{name}/{what}"));
        strike.at_ns = wires.set(&[wire], Condition::Cut)?;
        thread::sleep(dice.between_ms(CUT_MS.0, CUT_MS.1));
        wires.mend()?;
        world.healed(strike);
    }
    wires.remove(world, number)
}

/// Cuts the node off from PostgreSQL. It cannot renew its lease, and ends when it learns that its lease is over.
fn from_postgres(world: &mut World, number: &'static str, wires: &mut Wires) -> Result<()> {
    let name = world.nodes[wires.node].name().to_owned();
    let mut strike = world.strikes(number, &format!("{name}/postgres"));
    strike.at_ns = wires.set(&[wires.postgres], Condition::Cut)?;
    taken_for_dead(world, wires.node)?;
    wires.mend()?;
    world.nodes[wires.node].ends_within(ENDS_WITHIN)?;
    wires.start(world)?;
    world.healed(strike);
    Ok(())
}

/// Cuts all nodes off one after the other, and mends them in another order (F37).
pub(super) fn swizzle(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let nodes = 0..world.nodes.len();
    let mut all =
        nodes.map(|node| Wires::around(world, node, number)).collect::<Result<Vec<_>>>()?;
    let strike = world.strikes(number, "node");
    for mends in [false, true] {
        dice.shuffle(&mut all);
        for wires in &mut all {
            if mends {
                wires.mend()?;
            } else {
                wires.set(&wires.all(), Condition::Cut)?;
            }
            thread::sleep(dice.between_ms(WAVE_MS.0, WAVE_MS.1));
        }
    }
    world.healed(strike);
    for wires in all {
        wires.remove(world, number)?;
    }
    Ok(())
}
