//! Letters between agents, the webhooks by which other programs send them, and the grants between tenants.

mod views;

use std::time::Duration;

use nightdesk_desk::letters::letter_sender;
use nightdesk_letters::{ConnectorError, FailureCause, LetterOrder, Party, hook_key, new_id};
use nightdesk_types::limits::EXCHANGE_WAIT_MAX;
use nightdesk_types::{LetterId, StoreError, TenantScope};
use nightdesk_users::{Access, Right};

pub use self::views::{
    CreatedLetterHook, LetterGrantChange, LetterGrantView, LetterHookView, LetterView,
    NewLetterRequest, PeerSelector,
};
use self::views::{letter_grant_change, letter_grant_view, letter_view};
use crate::error::OfficeError;
use crate::identities::{TenantSelector, check_name};
use crate::office::Office;

impl Office {
    /// Returns a page of letters that an agent sent, newest first. Replies are for a caller that may read messages.
    pub async fn letters(
        &self,
        access: &Access,
        from: Party,
        before: Option<LetterId>,
    ) -> Result<Vec<LetterView>, OfficeError> {
        let letters = self.desk.stops.letters.store.letters(from, before).await?;
        Ok(letters.into_iter().map(|letter| letter_view(access, from, letter)).collect())
    }

    /// Returns a letter that an agent sent. Its reply is for a caller that may read messages.
    pub async fn letter(
        &self,
        access: &Access,
        from: Party,
        id: LetterId,
    ) -> Result<LetterView, OfficeError> {
        let found = self.desk.stops.letters.store.letter(from, id).await?;
        let found = found.ok_or_else(unknown_letter)?;
        Ok(letter_view(access, from, found))
    }

    /// Sends a letter in the name of an agent.
    pub async fn send_letter(
        &self,
        access: &Access,
        from: Party,
        request: NewLetterRequest,
    ) -> Result<LetterView, OfficeError> {
        let NewLetterRequest { to, text, wait_secs, dispatch_id } = request;
        let wait = wait_secs.map(Duration::from_secs);
        if wait.is_some_and(|wait| wait > EXCHANGE_WAIT_MAX) {
            let longest = EXCHANGE_WAIT_MAX.as_secs();
            let text = format!("a sender waits at most {longest}s for a reply; wait shorter");
            return Err(OfficeError::Invalid(text));
        }
        let dispatch_id = dispatch_id.unwrap_or_else(new_id);
        let order = LetterOrder { address: to, words: text, dispatch_id, wait };
        let sender = letter_sender(&self.desk.letters, from);
        // The task goes on if the client disconnects: the bell must ring for a stored letter.
        let putting = self.desk.stops.tasks.spawn(async move { sender.put(&order).await });
        let letter =
            putting.await.map_err(|error| StoreError::broken("send a letter", error))??;
        Ok(letter_view(access, from, letter))
    }

    /// Returns the first webhooks by which other programs send letters as agents of a tenant, at most so many.
    pub async fn letter_hooks(
        &self,
        scope: TenantScope,
        at_most: usize,
    ) -> Result<Vec<LetterHookView>, OfficeError> {
        let hooks = self.desk.stops.letters.store.hooks(scope, at_most).await?;
        let view = |(name, party): (String, Party)| LetterHookView { name, agent_id: party.agent };
        Ok(hooks.into_iter().map(view).collect())
    }

    /// Creates a webhook by which other programs send letters as an agent.
    pub async fn create_letter_hook(
        &self,
        from: Party,
        name: &str,
    ) -> Result<CreatedLetterHook, OfficeError> {
        check_name(name)?;
        let secret = [new_id(), new_id()].concat().replace('-', "");
        if !self.desk.stops.letters.store.make_hook(from, name, hook_key(&secret)).await? {
            return Err(OfficeError::Conflict(format!(
                "a webhook called {name} exists; choose another name, or remove it first"
            )));
        }
        let public_url = &self.desk.stops.public_url;
        let url_of = |call: &str| format!("{public_url}/v1/webhook/{secret}/{call}");
        Ok(CreatedLetterHook {
            name: name.to_owned(),
            agent_id: from.agent,
            url: url_of("deliver"),
            wake_url: url_of("wake"),
            status_url: url_of("status"),
            next: "give the secret as HTTP_WEBHOOK_AUTH (`Bearer SECRET`) or HTTP_WEBHOOK_HMAC_SECRET",
            secret,
        })
    }

    /// Removes a webhook: its secret sends no letters any more.
    pub async fn remove_letter_hook(
        &self,
        scope: TenantScope,
        name: &str,
    ) -> Result<(), OfficeError> {
        if self.desk.stops.letters.store.remove_hook(scope, name).await? {
            return Ok(());
        }
        Err(OfficeError::NotFound(format!(
            "there is no webhook called {name}; `nightdesk letter hooks` shows them"
        )))
    }

    /// Returns the first grants that a tenant gave for letters with other tenants, at most so many.
    pub async fn letter_grants(
        &self,
        scope: TenantScope,
        at_most: usize,
    ) -> Result<Vec<LetterGrantView>, OfficeError> {
        let grants = self.desk.stops.letters.store.grants(scope, None, at_most).await?;
        Ok(grants.iter().map(letter_grant_view).collect())
    }

    /// Grants letters between an agent and an agent of another tenant, for the first one's side.
    pub async fn grant_letters(
        &self,
        access: &Access,
        own: Party,
        peer: &PeerSelector,
    ) -> Result<LetterGrantChange, OfficeError> {
        let peer = self.letter_peer(access, own, peer).await?;
        self.desk.stops.letters.store.grant(own, peer).await?;
        Ok(letter_grant_change(own, peer))
    }

    /// Withdraws such a grant.
    pub async fn withdraw_letters(
        &self,
        access: &Access,
        own: Party,
        peer: &PeerSelector,
    ) -> Result<LetterGrantChange, OfficeError> {
        let peer = self.letter_peer(access, own, peer).await?;
        if self.desk.stops.letters.store.release(own, peer).await? {
            return Ok(LetterGrantChange { granted: false, ..letter_grant_change(own, peer) });
        }
        Err(OfficeError::NotFound(
            "there is no such grant; `nightdesk grant list-letters` shows them".to_owned(),
        ))
    }

    /// Returns the agent of another tenant, in which the caller needs a role too: nobody else is told that it exists.
    async fn letter_peer(
        &self,
        access: &Access,
        own: Party,
        peer: &PeerSelector,
    ) -> Result<Party, OfficeError> {
        let tenant = TenantSelector::new(peer.tenant.as_str());
        let scope = self.tenant(access, Right::Read, &tenant).await?;
        if scope == own.scope {
            return Err(OfficeError::Invalid(
                "agents of one tenant may always write to each other; name another tenant's agent"
                    .to_owned(),
            ));
        }
        Ok(Party { scope, agent: self.agent(scope, &peer.agent).await? })
    }
}

fn unknown_letter() -> OfficeError {
    OfficeError::NotFound(
        "the agent sent no such letter; `nightdesk letter list` shows them".to_owned(),
    )
}

impl From<ConnectorError> for OfficeError {
    fn from(error: ConnectorError) -> Self {
        match error {
            ConnectorError::DeliveryFailed { agent, cause } => failed_letter(agent, cause),
            ConnectorError::NotImplemented(_) => Self::Conflict(
                "the letters of this agent do not go through its inbox, and no reply comes back; send the letter \
                 without waiting"
                    .to_owned(),
            ),
            error @ ConnectorError::Timeout { .. } => Self::Letter(error),
        }
    }
}

fn failed_letter(agent: String, cause: FailureCause) -> OfficeError {
    match cause {
        FailureCause::UnknownAgent => OfficeError::NotFound(format!(
            "there is no agent called {agent}; `nightdesk agent list` shows them"
        )),
        FailureCause::Full => OfficeError::Conflict(
            "the agent's inbox is full; `nightdesk inbox list` shows it, and `nightdesk tenant quota` raises the limit"
                .to_owned(),
        ),
        FailureCause::Invalid(words) => OfficeError::Invalid(words),
        cause @ (FailureCause::Refused(_)
        | FailureCause::TooFast { .. }
        | FailureCause::Network(_)
        | FailureCause::TimedOut
        | FailureCause::Status(_)) => {
            OfficeError::Letter(ConnectorError::DeliveryFailed { agent, cause })
        }
    }
}
