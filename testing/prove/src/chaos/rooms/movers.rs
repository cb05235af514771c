//! Creates people that lose and regain access while they write, by a binding or by a grant.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::chaos::plan::{Conversation, Place};
use crate::cluster::Cluster;
use crate::setup::{Cast, Member};
use crate::stage::DATABASE;

/// Number of movers.
const MOVERS: usize = 4;

/// An author that loses and regains access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mover {
    /// The mover's conversation, with the agents that see it during access.
    pub conversation: Conversation,
    /// Statement that gives access. It can be repeated.
    pub lets_in: String,
    /// Statement that removes access.
    pub lets_out: String,
}

/// Creates the movers, and gives them access.
pub(super) fn enter(cluster: &Cluster, cast: &Cast) -> Result<Vec<Mover>> {
    let members = MOVERS.min(cast.members.len());
    let movers: Vec<Mover> = (0..members).map(|member| mover(cast, member)).collect();
    for mover in &movers {
        cluster.ask(DATABASE, &mover.lets_in)?;
    }
    Ok(movers)
}

/// Returns a mover. Every other mover is bound to an agent, and the rest write in a granted chat.
fn mover(cast: &Cast, number: usize) -> Mover {
    let Member { tenant, agent, bot, .. } = &cast.members[number];
    let (author, chat) = (format!("v{number}"), format!("v{number:06}"));
    let bot_id = cast.bots[*bot].bot;
    let (lets_in, lets_out) = if number.is_multiple_of(2) {
        (
            format!(
                "insert into bindings (tenant_id, bot_id, author_id, agent_id)
                 values ('{tenant}', '{bot_id}', '{author}', '{agent}') on conflict do nothing"
            ),
            format!("delete from bindings where bot_id = '{bot_id}' and author_id = '{author}'"),
        )
    } else {
        (
            format!(
                "insert into scope_grants (tenant_id, bot_id, chat_id, agent_id, principal)
                 values ('{tenant}', '{bot_id}', '{chat}', '{agent}', 'any')
                 on conflict do nothing"
            ),
            format!("delete from scope_grants where bot_id = '{bot_id}' and chat_id = '{chat}'"),
        )
    };
    let conversation = Conversation {
        bot: *bot,
        author,
        is_program: false,
        place: Place { chat, scope: Some("guild".to_owned()), parent: None },
        seen_by: vec![number],
        is_shared: false,
        is_flood: false,
    };
    Mover { conversation, lets_in, lets_out }
}
