//! Ends a rotation of a tenant's key in the middle, while gateways of the tenant dial.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::chance::Dice;
use crate::chaos::gateways::Order;
use crate::chaos::node::complete_command;
use crate::chaos::world::World;
use crate::crash_points::environment;
use crate::stage::DATABASE;

/// Percentage of lines that are reset, so that gateways show their secrets.
const RESET_PERCENT: u64 = 30;

/// Time limit for the end of a node that aborted.
const ABORTS_WITHIN: Duration = Duration::from_secs(15);

/// Makes the node that rotates a key die between two batches, and repeats the command (K23).
pub(super) fn die(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let tenants = "select distinct tenant_id from gateway_secrets order by 1";
    let tenants = world.cluster.ask(DATABASE, tenants)?;
    let tenants: Vec<&str> = tenants.lines().collect();
    let tenant = *tenants.get(dice.below(tenants.len())).context("no tenant has a gateway")?;
    let rotate = ["tenant", "rotate-key", tenant, "--json"];
    let node = dice.below(world.nodes.len());
    let death = world.strikes(number, world.nodes[node].name());
    world.nodes[node].kill()?;
    world.nodes[node].start_with(&[environment(number, 1)])?;
    let died = world.nodes[node].command(&rotate)?;
    ensure!(!died.status.success(), "the rotation of a key did not die");
    world.nodes[node].aborts_within(ABORTS_WITHIN)?;
    world.nodes[node].start()?;
    world.made_ready(&death);
    // From here on gateways are served all the time, so the rest excuses nothing.
    let strike = world.strikes(number, "command");
    world.gateways(&Order::Reset(RESET_PERCENT))?;
    complete_command(&world.nodes, &rotate).context("the rotation of a key was not finished")?;
    world.healed(strike);
    Ok(())
}
