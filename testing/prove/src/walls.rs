//! Proves isolation on a Discord and a Telegram on which tenants share bots, and others have their own. All people are
//! in one guild and one group, so every bot receives all messages. Nothing may reach an agent, a chat or a bot that it
//! is not for.
//!
//! Agents also constantly try forbidden actions: to answer prompts of other agents, to write into their chats, and to
//! fetch their files. In the end every agent tries to change every message of the others.

mod agents;
mod fetch;
mod judge;
mod meddle;
mod missing;
mod play;
mod who;
mod world;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

pub use judge::Tally;

use crate::chaos::mutation::Mutation;
use play::Play;
use world::World;

/// Time limit for an arrival, and for the end of all work. With a mutant neither may ever happen.
const PATIENCE: Duration = Duration::from_mins(1);
const PATIENCE_WITH_A_BUG: Duration = Duration::from_secs(3);

/// Plays this many rounds on desks of this binary, and returns the counts.
pub fn prove(binary: &Path, rounds: usize, mutation: Mutation) -> Result<Tally> {
    let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
    runtime.block_on(async {
        let world = World::set(binary, mutation).await?;
        let patience = match mutation {
            Mutation::Nothing => PATIENCE,
            Mutation::Patch(_) | Mutation::Sql(_) => PATIENCE_WITH_A_BUG,
        };
        let mut play = Play::begin(&world, patience)?;
        for round in 0..rounds {
            play.round(round).await;
        }
        let sorted = missing::sort(&world, &play.notes, &play.missing(), patience).await?;
        play.hang_up().await;
        let meddled = meddle::meddle(&world).await?;
        let tally = judge::judge(&world, &play);
        Ok(Tally {
            crossed: tally.crossed + meddled.crossed,
            meddled: meddled.tried,
            edited: meddled.own,
            late: sorted.late,
            lost: sorted.lost,
            ..tally
        })
    })
}
