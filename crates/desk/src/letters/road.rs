//! The road: the connector that sends letters through gate and inbox.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_bus::Ring;
use nightdesk_courier::decide::{AddressRefusal, decide_recipient};
use nightdesk_courier::{
    Address, AddressQuery, AgentConnector, Cause, ConnectorError, LetterState, Live, NewLetter,
    Party, Peer, Posting, Put, Route, fresh_id, millis,
};
use nightdesk_protocol::delivery::{
    Ability, AgentDescriptor, AgentStatus, Capabilities, DeliveryReceipt, Features, Kind, Millis,
    Origin, Payload, RequestResponseOpts, Response, WakeOpts, WakeReceipt, When,
};
use nightdesk_types::limits::{
    ADDRESS_BYTES_MAX, AGENTS_PAGE_MAX, DISPATCH_ID_BYTES_MAX, EXCHANGE_WAIT_MAX, HOPS_MAX,
    LETTER_BYTES_MAX, LETTER_LABEL_BYTES_MAX,
};
use nightdesk_types::planted::{Bug, is_planted};
use nightdesk_types::{AgentId, LetterId, StoreError, SystemClock, Timestamp};

use super::{LetterContext, chat, later, waiting};
use crate::limits::What;

/// The sender of a letter that is no agent of its tenant.
const OPERATOR: &str = "operator";
const ASLEEP: &str = "the agent sleeps: it is called, and finds the letter in its inbox";
const KEPT: &str = "the letter is kept until it is due";
const NOTHING_TOLD: &str = "the agent sleeps, and is called only if something waits for it";
const NOT_GRANTED: &str = "letters to agents of others need a grant from both sides";
const TOO_MANY_HOPS: &str =
    "this letter would be the end of more than eight, each sent to answer the one before";
const _: () = assert!(HOPS_MAX == 8, "the words say how many");

/// The road, for one sender.
#[derive(Clone, Debug)]
pub struct Road {
    pub(super) desk: Arc<LetterContext>,
    pub(super) from: Party,
}

/// The recipient of a letter, and the name under which the letter is sent.
#[derive(Clone, Debug)]
pub(super) struct Correspondent {
    pub(super) party: Party,
    pub(super) name: String,
    pub(super) session: Option<String>,
    pub(super) sender: String,
}

impl Correspondent {
    /// Returns the address with the agent's name in place of the id of an own agent.
    pub(super) fn canonical(&self, address: &str) -> String {
        let agent = Address::of(address).agent;
        if agent.parse::<AgentId>().is_err() {
            return address.to_owned();
        }
        address.replacen(agent, &self.name, 1)
    }
}

/// A letter to put.
pub(super) struct Said<'a> {
    route: Route,
    kind: Kind,
    words: &'a str,
    pub(super) dispatch_id: &'a str,
    event_type: Option<&'a str>,
    correlation_id: Option<&'a str>,
    origin: Option<&'a Origin>,
    when: Option<Timestamp>,
    wait: Option<Duration>,
}

/// The result of putting a letter.
pub(super) enum Came {
    Stored(LetterId, Option<Live>),
    Kept(LetterId),
    Noted(LetterId),
    Before(Box<nightdesk_courier::Letter>),
}

impl Came {
    pub(super) fn letter(&self) -> LetterId {
        match self {
            Self::Stored(id, _) | Self::Kept(id) | Self::Noted(id) => *id,
            Self::Before(letter) => letter.id,
        }
    }

    /// Returns true if the letter waits until it is due.
    pub(super) fn is_kept(&self) -> bool {
        match self {
            Self::Kept(_) => true,
            Self::Before(letter) => letter.state == LetterState::Scheduled,
            Self::Stored(..) | Self::Noted(_) => false,
        }
    }
}

impl Road {
    /// Creates the road of an agent.
    pub fn new(desk: &Arc<LetterContext>, from: Party) -> Self {
        Self { desk: Arc::clone(desk), from }
    }

    /// Returns the agents that can be written to, with their status.
    pub(super) async fn reachable(
        &self,
    ) -> Result<Vec<(AgentDescriptor, AgentStatus)>, ConnectorError> {
        let peers = self.peers().await?;
        let mut reachable = Vec::with_capacity(peers.len());
        for peer in peers {
            let status = match self.desk.courier.ways.of(peer.party) {
                Some(outlet) => outlet.status().await,
                None => status(peer.live.as_ref()),
            };
            reachable.push((descriptor(peer), status));
        }
        Ok(reachable)
    }

    async fn peers(&self) -> Result<Vec<Peer>, ConnectorError> {
        let peers = self.desk.courier.store.peers(self.from, AGENTS_PAGE_MAX).await;
        peers.map_err(|error| broken(error).to(""))
    }

    /// Calls an agent that has entries waiting and no line. Puts no letter.
    pub(super) async fn rouse(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> Result<WakeReceipt, ConnectorError> {
        let fails = |cause: Cause| cause.to(address);
        let to = self.recipient(address, session).await.map_err(fails)?;
        if let Some(outlet) = self.desk.courier.ways.of(to.party) {
            return self.rouse_by(outlet, &to).await.map_err(fails);
        }
        self.desk.waking.call(to.party.scope, to.party.agent);
        let live = waiting::up(&self.desk, to.party).await.map_err(fails)?;
        Ok(woken(&to, live, NOTHING_TOLD))
    }

    /// Looks up the agent that an address names. `session` overrides the session in the address.
    pub(super) async fn recipient(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> Result<Correspondent, Cause> {
        if address.len() > ADDRESS_BYTES_MAX {
            return Err(Cause::Invalid(format!(
                "an address has at most {ADDRESS_BYTES_MAX} bytes"
            )));
        }
        let address = Address::of(address);
        let query = AddressQuery { from: self.from, agent: address.agent.to_owned() };
        let facts = self.desk.courier.writer.address(query.clone()).await.map_err(broken)?;
        let recipient = decide_recipient(&query, &facts).map_err(|refusal| match refusal {
            AddressRefusal::UnknownAgent => Cause::UnknownAgent,
            AddressRefusal::NotGranted => Cause::Refused(NOT_GRANTED),
        })?;
        Ok(Correspondent {
            party: recipient.party,
            name: recipient.name,
            session: session.or(address.session).map(str::to_owned),
            sender: facts.sender.unwrap_or_else(|| OPERATOR.to_owned()),
        })
    }

    /// Puts a letter, and notifies or calls its agent.
    pub(super) async fn put(&self, to: &Correspondent, said: &Said<'_>) -> Result<Came, Cause> {
        check(said)?;
        let pair = format!("{} {}", self.from.agent, to.party.agent);
        let paced = self.desk.limits.allow_among_all(What::Letter, &pair).await;
        paced.map_err(|retry_after| Cause::TooFast { retry_after })?;
        let letter = self.letter(to, said);
        let told = chat::Told { from: &to.sender, words: said.words, event_type: said.event_type };
        let entry = chat::entry(&letter, told, said.origin);
        let entry = entry.ok_or_else(|| Cause::Invalid("no client could take it".to_owned()))?;
        let id = letter.id;
        let put = self.desk.courier.writer.put(Posting { letter, entry }).await;
        let came = match put.map_err(broken)? {
            Put::Stored { seq, live } => {
                // An agent whose line is up is not called, as after an accept.
                if live.is_none() {
                    self.desk.waking.call(to.party.scope, to.party.agent);
                }
                let agent = to.party.agent;
                self.desk.bell.ring(Ring::Entry { agent, seq }).await;
                Came::Stored(id, live)
            }
            Put::Kept => Came::Kept(id),
            Put::Noted => Came::Noted(id),
            Put::Duplicate(before) => Came::Before(before),
            Put::Unknown => return Err(Cause::UnknownAgent),
            Put::NotGranted => return Err(Cause::Refused(NOT_GRANTED)),
            Put::TooManyHops => return Err(Cause::Refused(TOO_MANY_HOPS)),
            Put::Full => return Err(Cause::Full),
        };
        self.arm(to, &came, said.when).await?;
        Ok(came)
    }

    /// Schedules a letter for later, also a repeated one, because the first call may have stopped before this step.
    async fn arm(
        &self,
        to: &Correspondent,
        came: &Came,
        when: Option<Timestamp>,
    ) -> Result<(), Cause> {
        let Some(when) = when.filter(|_| came.is_kept()) else { return Ok(()) };
        let armed = later::arm(&self.desk, to.party, came.letter(), when).await;
        armed.map_err(|error| Cause::Network(error.to_string()))
    }

    fn letter(&self, to: &Correspondent, said: &Said<'_>) -> NewLetter {
        let id = fresh_id().parse().unwrap_or(LetterId::from_uuid(uuid::Uuid::nil()));
        let dispatch_id = if is_planted(Bug::EveryTryIsALetter) {
            fresh_id()
        } else {
            said.dispatch_id.to_owned()
        };
        NewLetter {
            id,
            from: self.from,
            to: to.party,
            dispatch_id,
            route: said.route,
            kind: said.kind,
            session: to.session.clone(),
            correlation_id: said.correlation_id.map(str::to_owned),
            when: said.when,
            wait: said.wait,
            goes_out: self.desk.courier.ways.of(to.party).is_some(),
        }
    }

    /// Delivers a payload to a recipient that was looked up.
    pub(super) async fn deliver_to(
        &self,
        to: &Correspondent,
        address: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        let fails = |cause: Cause| cause.to(address);
        if let Some(outlet) = self.desk.courier.ways.of(to.party) {
            return self.deliver_by(outlet, to, address, payload).await.map_err(fails);
        }
        let came = self.put(to, &said(payload, None)).await.map_err(fails)?;
        let live = match &came {
            Came::Stored(_, live) => live.clone(),
            Came::Before(_) | Came::Kept(_) | Came::Noted(_) => {
                let live = self.desk.courier.store.live(to.party).await;
                live.map_err(|error| fails(broken(error)))?
            }
        };
        let asleep = live.is_none();
        Ok(DeliveryReceipt {
            delivered_at: now(),
            delivery_id: Some(came.letter().to_string()),
            session_id: live.map(|live| live.session),
            delivery_skipped: asleep,
            warnings: asleep.then(|| ASLEEP.to_owned()).into_iter().collect(),
        })
    }

    /// Wakes a recipient that was looked up.
    pub(super) async fn wake_to(
        &self,
        to: &Correspondent,
        address: &str,
        opts: &WakeOpts,
    ) -> Result<WakeReceipt, ConnectorError> {
        let fails = |cause: Cause| cause.to(address);
        let fresh = fresh_id();
        let meta = opts.meta.as_deref();
        let when = match opts.when {
            Some(When::At(at)) if at > now() => Timestamp::from_millisecond(at.0).ok(),
            Some(When::At(_) | When::Immediate) | None => None,
        };
        let said = Said {
            route: Route::Wake,
            kind: Kind::Augment,
            words: opts.context.as_deref().unwrap_or_default(),
            dispatch_id: meta.map_or(&fresh, |meta| &meta.dispatch_id),
            event_type: meta.and_then(|meta| meta.event_type.as_deref()),
            correlation_id: meta.and_then(|meta| meta.correlation_id.as_deref()),
            origin: meta.map(|meta| &meta.origin),
            when,
            wait: None,
        };
        if let Some(outlet) = self.desk.courier.ways.of(to.party) {
            let woken = self.wake_by(outlet, to, address, &said, opts).await.map_err(fails)?;
            return Ok(woken.unwrap_or_else(|| self::woken(to, None, KEPT)));
        }
        let came = self.put(to, &said).await.map_err(fails)?;
        self.woken(to, &came).await.map_err(fails)
    }

    /// Delivers a payload to a recipient that was looked up, and waits for the reply.
    pub(super) async fn exchange_with(
        &self,
        to: &Correspondent,
        address: &str,
        payload: &Payload,
        opts: &RequestResponseOpts,
    ) -> Result<Response, ConnectorError> {
        let fails = |cause: Cause| cause.to(address);
        let wait = Duration::from_millis(opts.timeout_ms).min(EXCHANGE_WAIT_MAX);
        if self.desk.courier.ways.of(to.party).is_some() {
            return Err(ConnectorError::NotImplemented("request_response"));
        }
        let asked = said(payload, Some(wait));
        let correlation_id = asked.correlation_id.or(Some(asked.dispatch_id));
        let came = self.put(to, &Said { correlation_id, ..asked }).await.map_err(fails)?;
        let found = waiting::answered(&self.desk, self.from, came.letter()).await;
        let found = found.map_err(|error| fails(broken(error)))?;
        let letter = found.ok_or_else(|| fails(Cause::UnknownAgent))?;
        waiting::reply_in(letter, &to.name, opts.timeout_ms)
    }

    /// Returns the receipt of a wake, after waiting for the agent's line.
    async fn woken(&self, to: &Correspondent, came: &Came) -> Result<WakeReceipt, Cause> {
        let live = match came {
            Came::Stored(_, Some(live)) => Some(live.clone()),
            Came::Stored(_, None) | Came::Before(_) => waiting::up(&self.desk, to.party).await?,
            Came::Kept(_) | Came::Noted(_) => None,
        };
        Ok(woken(to, live, if came.is_kept() { KEPT } else { ASLEEP }))
    }
}

/// Returns a receipt that reports a wake only if the agent's line is up and has the session of the address.
fn woken(to: &Correspondent, live: Option<Live>, otherwise: &str) -> WakeReceipt {
    let mut receipt = WakeReceipt { woken_at: now(), ..WakeReceipt::default() };
    match (live, &to.session) {
        (Some(live), Some(session)) if live.session != *session => {
            let other = &live.session;
            receipt.session_id = Some(session.clone());
            receipt.warnings =
                vec![format!("the agent is up at {other}, which is not the session named")];
        }
        (Some(live), _) => (receipt.woken, receipt.session_id) = (true, Some(live.session)),
        (None, session) => {
            receipt.session_id.clone_from(session);
            receipt.warnings = vec![otherwise.to_owned()];
        }
    }
    receipt
}

fn now() -> Millis {
    millis(&SystemClock::started())
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn broken(error: StoreError) -> Cause {
    let words =
        if error.retryable { "the desk cannot keep it now" } else { "the desk cannot keep it" };
    let error = &error as &dyn std::error::Error;
    tracing::warn!(error, "a letter was not kept");
    Cause::Network(words.to_owned())
}

/// Checks the lengths before any lookup.
fn check(said: &Said<'_>) -> Result<(), Cause> {
    let most =
        |what: &str, bytes: usize| Cause::Invalid(format!("{what} has at most {bytes} bytes"));
    if said.words.len() > LETTER_BYTES_MAX {
        return Err(most("a letter", LETTER_BYTES_MAX));
    }
    let ids = [Some(said.dispatch_id), said.correlation_id].into_iter().flatten();
    for id in ids {
        if id.is_empty() || id.len() > DISPATCH_ID_BYTES_MAX || id.contains('\0') {
            return Err(most("an id of a letter", DISPATCH_ID_BYTES_MAX));
        }
    }
    let told = |origin: &Origin| {
        let skills = [Some(origin.skill_name.as_str()), origin.entry_skill_name.as_deref()];
        let words = skills.into_iter().chain([Some(origin.trigger_kind.as_str())]).flatten();
        words.map(str::len).max().unwrap_or(0)
    };
    if said.origin.map_or(0, told) > LETTER_LABEL_BYTES_MAX {
        return Err(most("each word of origin", LETTER_LABEL_BYTES_MAX));
    }
    if said.event_type.is_some_and(|label| label.len() > LETTER_LABEL_BYTES_MAX) {
        return Err(most("event_type", LETTER_LABEL_BYTES_MAX));
    }
    Ok(())
}

#[async_trait]
impl AgentConnector for Road {
    fn static_capabilities() -> Capabilities {
        let yes = Some(true);
        let features = Features {
            deliver: yes,
            wake: yes,
            list_agents: yes,
            agent_status: yes,
            health_check: yes,
            request_response: yes,
        };
        Capabilities::of("nightdesk", features)
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        Ok(self.peers().await?.into_iter().map(descriptor).collect())
    }

    async fn deliver(
        &self,
        agent_id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        let to = self.recipient(agent_id, None).await.map_err(|cause| cause.to(agent_id))?;
        self.deliver_to(&to, agent_id, payload).await
    }

    async fn wake(&self, agent_id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        let to = self.recipient(agent_id, opts.session_id.as_deref()).await;
        self.wake_to(&to.map_err(|cause| cause.to(agent_id))?, agent_id, opts).await
    }

    async fn health_check(&self) -> bool {
        true
    }

    async fn request_response(
        &self,
        agent_id: &str,
        payload: &Payload,
        opts: &RequestResponseOpts,
    ) -> Result<Response, ConnectorError> {
        let to = self.recipient(agent_id, None).await.map_err(|cause| cause.to(agent_id))?;
        self.exchange_with(&to, agent_id, payload, opts).await
    }

    async fn agent_status(&self, agent_id: &str) -> Result<AgentStatus, ConnectorError> {
        let fails = |cause: Cause| cause.to(agent_id);
        let to = self.recipient(agent_id, None).await.map_err(fails)?;
        if let Some(outlet) = self.desk.courier.ways.of(to.party) {
            return Ok(outlet.status().await);
        }
        let live = self.desk.courier.store.live(to.party).await;
        Ok(status(live.map_err(|error| fails(broken(error)))?.as_ref()))
    }
}

/// Returns the status of an agent by its line.
const fn status(live: Option<&Live>) -> AgentStatus {
    match live {
        Some(Live { is_busy: true, .. }) => AgentStatus::Active,
        Some(_) => AgentStatus::Idle,
        None => AgentStatus::Asleep,
    }
}

fn descriptor(peer: Peer) -> AgentDescriptor {
    let agent_id = peer.name.unwrap_or_else(|| peer.party.agent.to_string());
    let can = vec![Ability::Deliver, Ability::Wake, Ability::Augment, Ability::Template];
    AgentDescriptor { agent_name: None, agent_id, capabilities: Some(can) }
}

pub(super) fn said(payload: &Payload, wait: Option<Duration>) -> Said<'_> {
    let meta = payload.meta();
    Said {
        route: Route::Deliver,
        kind: payload.kind(),
        words: payload.words(),
        dispatch_id: &meta.dispatch_id,
        event_type: meta.event_type.as_deref(),
        correlation_id: meta.correlation_id.as_deref(),
        origin: Some(&meta.origin),
        when: None,
        wait,
    }
}
