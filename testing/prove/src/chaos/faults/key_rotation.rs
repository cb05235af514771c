//! Ends a rotation of a tenant's key in the middle, while gateways of the tenant dial.

use anyhow::{Context, Result, ensure};

use crate::chance::Dice;
use crate::chaos::gateways::Order;
use crate::chaos::world::World;
use crate::crash_points::environment;
use crate::stage::DATABASE;

/// Percentage of lines that are reset, so that gateways show their secrets.
const RESET_PERCENT: u64 = 30;

/// Makes the command that rotates a key die between two batches, and runs it again (K23).
pub(super) fn die(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let tenants = "select distinct tenant_id from gateway_secrets order by 1";
    let tenants = world.cluster.ask(DATABASE, tenants)?;
    let tenants: Vec<&str> = tenants.lines().collect();
    let tenant = *tenants.get(dice.below(tenants.len())).context("no tenant has a gateway")?;
    let rotate = ["tenant", "rotate-key", tenant, "--json"];
    // Gateways are served all the time, so the fault excuses nothing.
    let strike = world.strikes(number, "command");
    let crash = environment(number, 1);
    let died = world.nodes[0].command(&[(crash.0, &crash.1)], &rotate)?;
    ensure!(!died.status.success(), "the rotation of a key did not die");
    world.gateways(&Order::Reset(RESET_PERCENT))?;
    let again = world.nodes[0].command(&[], &rotate)?;
    let said = String::from_utf8_lossy(&again.stderr);
    ensure!(again.status.success(), "the rotation of a key was not finished: {said}");
    world.healed(strike);
    Ok(())
}
