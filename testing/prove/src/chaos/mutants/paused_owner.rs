//! Stops the node that owns the bots until another node has taken them over, and then lets it continue.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::chance::Dice;
use crate::chaos::faults::{Fault, Pace};
use crate::chaos::world::World;
use crate::procfs::signal;
use crate::stage::DATABASE;

/// F05, but not before sends wait for their turn.
pub(super) const FAULT: Fault = Fault {
    number: "F05",
    what: "the owner of the bots is paused",
    strike: pause,
    possible: |world| world.nodes.len() > 1,
    pace: Pace::Quick,
};

/// Minimum number of chats in which sends wait for an owner before it is stopped.
const CHATS_MIN: u32 = 8;

/// Time limit for that, and for the takeover: a lease, and a poll.
const COMES_WITHIN: Duration = Duration::from_secs(25);

/// Time in which a node that continues may find out that its lease is over.
const FINDS_OUT_WITHIN: Duration = Duration::from_secs(4);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

fn pause(world: &mut World, number: &'static str, _: &mut Dice) -> Result<()> {
    let owner = owner(world)?;
    let pid = world.nodes[owner].pid().context("the owner does not run")?;
    let strike = world.strikes(number, world.nodes[owner].name());
    signal("STOP", &[pid])?;
    let taken_over = taken_over(world, world.nodes[owner].name());
    signal("CONT", &[pid])?;
    taken_over?;
    came_back(world, owner)?;
    world.healed(strike);
    Ok(())
}

/// Returns the node whose bots have sends waiting in most chats, as soon as there are enough. In each chat one send is
/// next: it has read the bot's owner, and waits for the bot's rate limit.
fn owner(world: &World) -> Result<usize> {
    let most = format!(
        "select o.node from sends s join owners o on o.resource = 'bot/' || s.bot_id
         where s.state = 'asked' and s.asked_at < clock_timestamp() - interval '1 second'
         group by o.node having count(distinct (s.agent_id, s.chat_id)) >= {CHATS_MIN}
         order by count(*) desc limit 1"
    );
    let name = comes(world, &most, |name| !name.is_empty()).context("no sends wait")?;
    let owner = world.nodes.iter().position(|node| node.name() == name);
    owner.with_context(|| format!("there is no node {name}"))
}

fn taken_over(world: &World, from: &str) -> Result<()> {
    let owned = format!("select count(*) from owners where node = '{from}'");
    let none = comes(world, &owned, |count| count == "0");
    none.map(drop).with_context(|| format!("nobody took over from {from}"))
}

/// Repeats a query until the answer is acceptable.
fn comes(world: &World, sql: &str, will_do: impl Fn(&str) -> bool) -> Result<String> {
    let deadline = Instant::now() + COMES_WITHIN;
    loop {
        let answer = world.cluster.ask(DATABASE, sql)?.trim().to_owned();
        if will_do(&answer) {
            return Ok(answer);
        }
        ensure!(Instant::now() < deadline, "it is still {answer:?}");
        thread::sleep(LOOK_EVERY);
    }
}

/// Starts the node again if other nodes had considered it dead.
fn came_back(world: &mut World, node: usize) -> Result<()> {
    let deadline = Instant::now() + FINDS_OUT_WITHIN;
    while Instant::now() < deadline {
        if world.nodes[node].has_ended()? {
            return world.nodes[node].start();
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
