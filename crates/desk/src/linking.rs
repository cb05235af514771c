//! Links a person to an agent by a code, and replies to the person.

use std::sync::Arc;

use nightdesk_egress::{Egress, FleetingAction};
use nightdesk_gate::{ChatLinkCommand, Gate};
use nightdesk_register::{RedeemResult, Register};
use nightdesk_types::StoreError;
use tokio_util::task::TaskTracker;

use crate::Stops;
use crate::accounts::store_error;

/// Links people to agents.
#[derive(Debug)]
pub(crate) struct Linking {
    register: Arc<Register>,
    gate: Arc<Gate>,
    egress: Arc<Egress>,
    tasks: TaskTracker,
}

impl Linking {
    pub(crate) fn new(stops: &Stops) -> Self {
        let Stops { register, gate, egress, tasks, .. } = stops.clone();
        Self { register, gate, egress, tasks }
    }

    /// Links the author of the request, or replies with the reason for the refusal.
    pub(crate) async fn link(&self, ask: &ChatLinkCommand<'_>) -> Result<(), StoreError> {
        let redeemed = self.register.redeem(ask.bot(), ask.author(), ask.code).await;
        let redeemed = redeemed.map_err(store_error)?;
        if let RedeemResult::Linked { agent, .. } = &redeemed {
            let bot = ask.bot();
            tracing::info!(agent.id = %agent, bot.id = %bot, "linked a person on bot {bot} to agent {agent}");
            // Other nodes refresh within a moment; the person is likely to write to this node first.
            self.gate.reload_bot(bot).await?;
        }
        let answer = FleetingAction::link_response(ask, &response_text(&redeemed));
        let egress = Arc::clone(&self.egress);
        // Best effort: a person without a reply sends the code again and gets the same reply.
        self.tasks.spawn(async move { drop(egress.show(&answer).await) });
        Ok(())
    }
}

fn response_text(redeemed: &RedeemResult) -> String {
    const NEW: &str = "Ask the person who gave it to you for a new one.";
    match redeemed {
        RedeemResult::Linked { name, .. } => {
            format!("You are linked to {name}. From now on it receives your messages to me.")
        }
        RedeemResult::Unknown => {
            format!("I do not know that code. Check that it is complete. {NEW}")
        }
        RedeemResult::Expired => format!("That code has expired. {NEW}"),
        RedeemResult::Used => format!("That code was already used. {NEW}"),
        RedeemResult::NotHere => {
            "That code is for an agent that cannot be linked to me. Send it to the bot that \
             it was given for."
                .to_owned()
        }
        RedeemResult::TooMany => "You tried too many codes. Try again in an hour.".to_owned(),
    }
}
