//! Stops running turns of agents, for people, agents and operators.
//!
//! A stop is a hint to the node that holds the agent's line, and is not stored. [`decide`] chooses its form, and the
//! result comes back over the bell, within a bounded time. A person whose stop was lost stops again.

pub mod decide;
mod person;
mod session;

use std::error::Error;
use std::sync::Arc;

use nightdesk_bus::{Bell, LineRegistry, Ring};
use nightdesk_inbox::StoppedChat;
use nightdesk_letters::Party;
use nightdesk_line::random_stop_id;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_register::Register;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{STOP_ANSWER_WAIT, STOPPED_ENTRIES_MAX};
use nightdesk_types::{BotId, StopOutcome, StopReceiver, StoreError};
use serde_json::json;
use tokio_util::task::TaskTracker;

use crate::notices::Notices;
use crate::{Limits, Records, Stops};
use decide::{ClientFacts, StopDelivery, decide_delivery, may_stop};

pub(crate) use person::stop_word;
pub use session::StopSession;

/// The origin of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopOrigin {
    /// A person's `/stop`.
    Command,
    /// The word of a bot.
    Word,
    /// The button under a running answer.
    Button,
    /// The route for sessions.
    Route,
    /// The MCP tool.
    Tool,
    /// A letter: its sender stops it, or a wake interrupts.
    Letter,
}

nightdesk_types::slugs! {
    StopOrigin:
    Command = "command",
    Word = "word",
    Button = "button",
    Route = "route",
    Tool = "tool",
    Letter = "letter",
}

/// A stop of one agent.
#[derive(Clone, Debug)]
pub struct StopOrder {
    /// The session.
    pub session: StopSession,
    /// The origin.
    pub origin: StopOrigin,
    /// True if the entries of the chat that wait for a sleeping agent are set aside, too.
    pub drops_waiting: bool,
}

/// The result of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopReport {
    /// The outcome of the stop.
    pub outcome: StopOutcome,
    /// The number of waiting entries that were set aside.
    pub dropped: usize,
}

/// The reason why a caller may not stop an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRefusal {
    /// The tenant has no such agent.
    UnknownAgent,
    /// The caller may stop only its own turns.
    NotPermitted,
}

/// Stops turns.
#[derive(Debug)]
pub struct Stopping {
    records: Arc<dyn Records>,
    register: Arc<Register>,
    limits: Arc<Limits>,
    bell: Arc<dyn Bell>,
    lines: Arc<LineRegistry>,
    notices: Notices,
    tasks: TaskTracker,
}

impl Stopping {
    pub(crate) fn new(stops: &Stops) -> Self {
        let notices = Notices::new(stops);
        let Stops { records, register, limits, bell, lines, tasks, .. } = stops.clone();
        Self { records, register, limits, bell, lines, notices, tasks }
    }

    /// Returns the agent that a caller names, if the caller may stop it. Without a name it is the caller itself.
    pub async fn find_permitted(
        &self,
        caller: Party,
        named: Option<&str>,
    ) -> Result<Result<Party, StopRefusal>, StoreError> {
        let Some(named) = named else { return Ok(Ok(caller)) };
        let store = self.register.store();
        let found = store.agents_called(caller.scope, named).await?;
        let [agent] = found.as_slice() else { return Ok(Err(StopRefusal::UnknownAgent)) };
        let agent = Party { scope: caller.scope, agent: agent.id };
        let stops_others = agent.agent != caller.agent
            && store.may_stop_others(caller.scope, caller.agent).await?;
        let permitted = may_stop(caller, agent, stops_others);
        Ok(if permitted { Ok(agent) } else { Err(StopRefusal::NotPermitted) })
    }

    /// Stops the turn of a session, wherever its agent's line is.
    pub async fn stop(&self, party: Party, order: &StopOrder) -> Result<StopReport, StoreError> {
        let outcome = self.deliver(party, &order.session).await?;
        let dropped =
            if order.drops_waiting { self.drop_waiting(party, &order.session).await? } else { 0 };
        let report = StopReport { outcome, dropped };
        log_stop(party, order.origin, report);
        self.record(party, order.origin, outcome).await;
        Ok(report)
    }

    /// Delivers a stop in the form that the agent's client obeys.
    async fn deliver(
        &self,
        party: Party,
        session: &StopSession,
    ) -> Result<StopOutcome, StoreError> {
        let Some(client) = self.find_client(party).await? else {
            return Ok(StopOutcome::Undelivered);
        };
        Ok(match decide_delivery(client, &session.source.platform) {
            StopDelivery::Order => self.send_order(party, session).await,
            StopDelivery::Frames => self.send_frames(party, session).await,
            StopDelivery::Text => self.send_text(party, session).await?,
            StopDelivery::Nothing(outcome) => outcome,
        })
    }

    /// Records a stop in the audit log. It has happened, so its caller gets the result in any case.
    async fn record(&self, party: Party, origin: StopOrigin, outcome: StopOutcome) {
        let Party { scope, agent } = party;
        let about =
            json!({ "agent_id": agent, "origin": origin.slug(), "outcome": outcome.slug() });
        let noted = self.register.store().note(scope, Kind::TurnStopped, &about).await;
        if let Err(error) = noted {
            tracing::warn!(error = &error as &dyn Error, "a stop could not be recorded");
        }
    }

    async fn find_client(&self, party: Party) -> Result<Option<ClientFacts>, StoreError> {
        let Party { scope, agent } = party;
        let Some(status) = self.records.status(scope, Some(agent), "").await?.pop() else {
            return Ok(None);
        };
        let (rules, transport) = (status.rules, status.transport);
        // Only an agent without a line is looked at more closely.
        let has_webhook =
            transport.is_none() && self.records.webhook(scope, agent).await?.is_some();
        Ok(Some(ClientFacts { rules, transport, has_webhook }))
    }

    /// Sends a stop that the client answers.
    async fn send_order(&self, party: Party, session: &StopSession) -> StopOutcome {
        match session.sdk_key() {
            Some(key) => self.send_and_wait(party, session, vec![key]).await,
            None => StopOutcome::Undelivered,
        }
    }

    /// Sends a stop under every name that the client may have for the session.
    async fn send_frames(&self, party: Party, session: &StopSession) -> StopOutcome {
        self.send_and_wait(party, session, session.stock_keys()).await
    }

    /// Rings for each name of the session, and waits for the result of the last.
    async fn send_and_wait(
        &self,
        party: Party,
        session: &StopSession,
        keys: Vec<SessionKey>,
    ) -> StopOutcome {
        let stop_id = random_stop_id();
        let waiting = self.lines.stop_results().begin_wait(stop_id.clone());
        let receiver = StopReceiver { stop_id, node: self.lines.node().to_owned() };
        let mut is_heard = false;
        for (nth, key) in keys.iter().enumerate() {
            let is_last = nth + 1 == keys.len();
            let ring = Ring::Stop {
                agent: party.agent,
                session_key: key.as_str().to_owned(),
                chat_id: session.source.chat_id.clone(),
                report_to: Some(receiver.clone()).filter(|_| is_last && waiting.is_some()),
            };
            is_heard |= self.bell.ring(ring).await;
        }
        let unanswered = if is_heard { StopOutcome::Delivered } else { StopOutcome::Undelivered };
        match waiting {
            Some(mut waiting) if is_heard => {
                waiting.wait(STOP_ANSWER_WAIT).await.unwrap_or(unanswered)
            }
            Some(_) | None => unanswered,
        }
    }

    /// Puts the text that stops into the inbox, for a client that ignores frames.
    async fn send_text(
        &self,
        party: Party,
        session: &StopSession,
    ) -> Result<StopOutcome, StoreError> {
        let Some(bot) = self.find_bot(party, session).await? else {
            return Ok(self.send_frames(party, session).await);
        };
        let Party { scope, agent } = party;
        let Some(entry) = session.text_entry(bot) else { return Ok(StopOutcome::Undelivered) };
        let Some(seq) = self.records.put_local(scope, agent, &entry).await? else {
            return Ok(StopOutcome::Undelivered);
        };
        self.bell.ring(Ring::Entry { agent, seq }).await;
        Ok(StopOutcome::Delivered)
    }

    async fn find_bot(
        &self,
        party: Party,
        session: &StopSession,
    ) -> Result<Option<BotId>, StoreError> {
        if session.bot.is_some() {
            return Ok(session.bot);
        }
        let bots = self.register.store().bots_of(party.scope, party.agent).await?;
        let platform = &session.source.platform;
        Ok(bots.into_iter().find(|bot| bot.platform == *platform).map(|bot| bot.id))
    }

    /// Sets the waiting entries of a session's chat aside.
    async fn drop_waiting(&self, party: Party, session: &StopSession) -> Result<usize, StoreError> {
        let chat_id = &session.source.chat_id;
        let chat = StoppedChat { bot: session.bot, chat_id, entries_max: STOPPED_ENTRIES_MAX };
        self.records.park_chat(party.scope, party.agent, chat).await
    }
}

fn log_stop(party: Party, origin: StopOrigin, report: StopReport) {
    let (agent, StopReport { outcome, dropped }) = (party.agent, report);
    let (origin, outcome) = (origin.slug(), outcome.slug());
    tracing::info!(
        agent.id = %agent, origin, outcome, dropped, "a turn of agent {agent} was to be stopped"
    );
}
