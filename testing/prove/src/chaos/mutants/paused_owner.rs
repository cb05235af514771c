//! The node that owns the bots stands still until another has taken them over, and goes on with
//! what it had begun.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::chance::Dice;
use crate::chaos::faults::Fault;
use crate::chaos::world::World;
use crate::procfs::signal;
use crate::stage::DATABASE;

/// F05, and no sooner than sends wait for their turn.
pub(super) const FAULT: Fault = Fault {
    number: "F05",
    what: "the owner of the bots is paused",
    strike: pause,
    possible: |world| world.nodes.len() > 1,
};

/// In so many chats sends must wait for an owner before it is paused.
const CHATS_MIN: u32 = 8;

/// How long that may take, or until others have taken over: a lease, and a look.
const COMES_WITHIN: Duration = Duration::from_secs(25);

/// How long a node that goes on may take to find out that its life is over.
const FINDS_OUT_WITHIN: Duration = Duration::from_secs(4);

/// How often we look.
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

/// The node for whose bots sends wait in most chats, as soon as these are enough. In each chat one
/// is next: it has seen who owns the bot, and waits for the bot's pace.
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

/// Asks until the answer is one that will do.
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

/// Starts it again if others had buried it.
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
