//! Kills a node whose posts to agents are under way. Other nodes post the entries again, under the same ids.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::chance::Dice;
use crate::chaos::gateways::Order;
use crate::chaos::plan::Plan;
use crate::chaos::world::World;
use crate::stage::DATABASE;

/// Time limit for a post to be held open, and for its entry to come again. The machine may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A node with a post that its agent holds open.
struct PostingNode {
    node: usize,
    member: usize,
}

/// Kills a node in the middle of its posts (F52). It is started again when another node has posted the entry.
pub(super) fn kill(world: &mut World, number: &'static str, _: &mut Dice) -> Result<()> {
    world.gateways(&Order::HoldPosts(true))?;
    let PostingNode { node, member } = find_posting(world)?;
    let strike = world.strikes(number, world.nodes[node].name());
    world.nodes[node].kill()?;
    let deadline = Instant::now() + PATIENCE;
    while !world.gateways(&Order::Count)?.posted_again.contains(&member) {
        ensure!(Instant::now() < deadline, "no other node posted the entry again");
        thread::sleep(LOOK_EVERY);
    }
    world.gateways(&Order::HoldPosts(false))?;
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
}

/// Waits for a node that posts to an agent which holds the post open.
fn find_posting(world: &mut World) -> Result<PostingNode> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        for member in world.gateways(&Order::Count)?.holding {
            let line = format!(
                "select l.node from lines l join agents a using (tenant_id, agent_id)
                 where a.name = '{}' and l.closed_at is null",
                Plan::agent(member)
            );
            let holder = world.cluster.ask(DATABASE, &line)?;
            let is_holder = |node: &usize| world.nodes[*node].name() == holder.trim();
            if let Some(node) = (0..world.nodes.len()).find(is_holder) {
                return Ok(PostingNode { node, member });
            }
        }
        ensure!(Instant::now() < deadline, "no post was held open");
        thread::sleep(LOOK_EVERY);
    }
}
