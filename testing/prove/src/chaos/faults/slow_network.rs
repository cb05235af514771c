//! Slows the network of a node down: every byte is late, or only few bytes pass per second.

use std::thread;
use std::time::Duration;

use anyhow::Result;

use crate::chance::Dice;
use crate::chaos::means::Wires;
use crate::chaos::wires::Condition;
use crate::chaos::world::World;
use crate::psql::Looker;
use crate::stage::DATABASE;

/// Bytes that are late by 200 ± 100 ms.
const LATE: Condition = Condition::Late { least_ms: 100, most_ms: 300 };

/// 64 kbit/s for each connection.
const NARROW: Condition = Condition::Narrow { bytes_per_s: 8_000 };

/// Duration of each.
const EACH_MS: (u64, u64) = (4_000, 6_000);

/// Half of a second for a round trip to PostgreSQL.
const SLOW_DATABASE: Condition = Condition::Late { least_ms: 250, most_ms: 250 };

/// Duration of a lock on the table of entries.
const LOCKED: Duration = Duration::from_secs(10);

/// Slows down the connections of a node with gateways, platforms and Redis (F34).
pub(super) fn slow_down(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let mut wires = Wires::around(world, node, number)?;
    let slow: Vec<_> = [wires.public].into_iter().chain(wires.redis).collect();
    for condition in [LATE, NARROW] {
        let mut strike = world.strikes(number, &format!("{}/gateway", world.nodes[node].name()));
        strike.at_ns = wires.set(&slow, condition)?;
        thread::sleep(dice.between_ms(EACH_MS.0, EACH_MS.1));
        wires.mend()?;
        world.healed(strike);
    }
    wires.remove(world, number)
}

/// Slows down PostgreSQL (F21): for one node by a late connection, then for all by a lock on the table of entries. An
/// idle transaction is open all the time.
pub(super) fn slow_database(
    world: &mut World,
    number: &'static str,
    dice: &mut Dice,
) -> Result<()> {
    let mut idle = looker(world);
    // Its snapshot stays, so that no row that is deleted from now on can be removed.
    idle.ask("begin isolation level repeatable read")?;
    idle.ask("select txid_current()")?;
    let node = dice.below(world.nodes.len());
    let mut wires = Wires::around(world, node, number)?;
    let mut strike = world.strikes(number, &format!("{}/postgres", world.nodes[node].name()));
    strike.at_ns = wires.set(&[wires.postgres], SLOW_DATABASE)?;
    thread::sleep(dice.between_ms(EACH_MS.0, EACH_MS.1));
    wires.mend()?;
    world.healed(strike);
    wires.remove(world, number)?;

    let strike = world.strikes(number, "postgres");
    let mut lock = looker(world);
    lock.ask("begin")?;
    lock.ask("lock table inbox_entries in access exclusive mode")?;
    thread::sleep(LOCKED);
    // Both transactions end with their connections.
    drop((lock, idle));
    world.healed(strike);
    Ok(())
}

fn looker(world: &World) -> Looker {
    Looker::at(world.cluster.program("psql"), world.cluster.admin_url(DATABASE))
}
