//! Drops packets of a node: some of them, all of one direction, or all of both.

use std::thread;

use anyhow::Result;
use nightdesk_judge::monotonic_ns;

use super::owners::taken_for_dead;
use super::partitions::ENDS_WITHIN;
use crate::chance::Dice;
use crate::chaos::means::{PacketFilter, PacketLoss, Way, Wires};
use crate::chaos::world::World;

const WAYS: [Way; 2] = [Way::In, Way::Out];

/// Percentages of lost packets, one after the other.
const LOST_PERCENT: [u32; 2] = [5, 30];

/// Duration of a loss.
const LOSS_MS: (u64, u64) = (3_000, 5_000);

/// Duration of half-open lines: the desk suspects a silent line after 45 s.
const HALF_OPEN_MS: (u64, u64) = (47_000, 50_000);

/// Loses some packets between a node and its gateways and platforms (F33).
pub(super) fn lose_some(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let port = world.nodes[node].address().port();
    for percent in LOST_PERCENT {
        let strike = world.strikes(number, &format!("{}/gateway", world.nodes[node].name()));
        let filter = PacketFilter::set(&WAYS.map(|way| PacketLoss { port, way, percent }))?;
        thread::sleep(dice.between_ms(LOSS_MS.0, LOSS_MS.1));
        drop(filter);
        world.healed(strike);
    }
    Ok(())
}

/// Loses all packets between a node and its gateways and platforms, so that both sides consider their lines open (F36).
pub(super) fn half_open(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let port = world.nodes[node].address().port();
    let strike = world.strikes(number, &format!("{}/gateway", world.nodes[node].name()));
    let filter = PacketFilter::set(&WAYS.map(|way| PacketLoss::all(port, way)))?;
    thread::sleep(dice.between_ms(HALF_OPEN_MS.0, HALF_OPEN_MS.1));
    drop(filter);
    world.healed(strike);
    Ok(())
}

/// Loses all packets of one direction (F32): between a node and PostgreSQL until other nodes consider the node dead, then
/// between it and Redis, and between it and gateways, in each direction.
pub(super) fn one_way(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let name = world.nodes[node].name().to_owned();
    let mut wires = Wires::around(world, node, number)?;
    from_postgres(world, number, &mut wires, WAYS[dice.below(WAYS.len())])?;
    for (wire, what) in [(wires.redis, "redis"), (Some(wires.public), "gateway")] {
        let Some(wire) = wire else { continue };
        for way in WAYS {
            let strike = world.strikes(number, &format!("{name}/{what}"));
            let filter = PacketFilter::set(&[PacketLoss::all(wire.port(), way)])?;
            thread::sleep(dice.between_ms(LOSS_MS.0, LOSS_MS.1));
            drop(filter);
            world.healed(strike);
        }
    }
    wires.remove(world, number)
}

fn from_postgres(
    world: &mut World,
    number: &'static str,
    wires: &mut Wires,
    way: Way,
) -> Result<()> {
    let name = world.nodes[wires.node].name().to_owned();
    let mut strike = world.strikes(number, &format!("{name}/postgres"));
    let filter = PacketFilter::set(&[PacketLoss::all(wires.postgres.port(), way)])?;
    strike.at_ns = monotonic_ns();
    taken_for_dead(world, wires.node)?;
    drop(filter);
    world.nodes[wires.node].ends_within(ENDS_WITHIN)?;
    wires.start(world)?;
    world.healed(strike);
    Ok(())
}
