//! Decides which changes to an agent's reach a caller may make, by the caller's proof.
//!
//! A gateway's secret is stored on the agent's machine. A thief of it may narrow the agent's reach but not widen it:
//! widening needs a token, or a tenant that allows it.

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, BotId, GatewayId, GrantTarget, Principal, Relevance, StoreError, TenantScope,
};

use crate::caller::{Caller, CallerProof};

/// An agent's reach, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentReach {
    /// The principal of future grants.
    pub principal: Principal,
    /// People bound to the agent.
    pub people: Vec<(BotId, String)>,
    /// The agent's grants, and the principal of each.
    pub grants: Vec<(BotId, GrantTarget, Principal)>,
    /// Further people on the agent's list.
    pub listed: Vec<(BotId, String)>,
    /// The agent's relevance rules, by platform.
    pub relevance: Vec<(String, Relevance)>,
}

impl AgentReach {
    /// The reach of an agent that no person reaches.
    const NARROWEST: Self = Self {
        principal: Principal::OwnerOnly,
        people: Vec::new(),
        grants: Vec::new(),
        listed: Vec::new(),
        relevance: Vec::new(),
    };
}

/// A bot on which agents of a tenant may be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenBot {
    /// Its id.
    pub id: BotId,
    /// Its platform's name.
    pub platform: String,
    /// Its handle on the platform.
    pub handle: String,
    /// True if the tenant runs it.
    pub is_own: bool,
}

/// A requested change to an agent's reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachChangeRequest<'a> {
    /// Create a code that links a person.
    Link,
    /// Unlink a person.
    Unlink,
    /// Become a person's preferred agent.
    Prefer,
    /// Claim a chat or a scope.
    Claim,
    /// Release a chat or a scope.
    Release,
    /// Be open to this principal.
    Open(Principal),
    /// Replace the agent's list on a bot by these people.
    List(BotId, &'a [String]),
    /// Declare the agent's relevance rules.
    Declare,
    /// Deprovision the agent.
    Deprovision,
}

impl ReachChangeRequest<'_> {
    /// Returns true if the change lets a person reach the agent who cannot reach it now.
    pub fn widens(&self, now: &AgentReach) -> bool {
        match self {
            Self::Link | Self::Prefer | Self::Claim => true,
            Self::Unlink | Self::Release | Self::Declare | Self::Deprovision => false,
            Self::Open(principal) => {
                let open = now.grants.iter().map(|(_, _, open)| *open);
                open.chain([now.principal]).any(|open| *principal > open)
            }
            Self::List(bot, authors) => {
                let is_listed = |author: &String| now.listed.contains(&(*bot, author.clone()));
                !authors.iter().all(is_listed)
            }
        }
    }
}

/// Stores the further data that managing needs.
#[async_trait]
pub trait Managing: Send + Sync {
    /// Returns an agent's reach.
    async fn reach_of(&self, scope: TenantScope, agent: AgentId) -> Result<AgentReach, StoreError>;

    /// Returns the bots on which agents of a tenant may be linked.
    async fn open_bots(&self, scope: TenantScope) -> Result<Vec<OpenBot>, StoreError>;

    /// Removes everything by which an agent can be reached or dial in. Returns the gateways that it revoked.
    async fn deprovision(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GatewayId>, StoreError>;

    /// Returns true if a tenant lets its gateways' secrets widen the reach of their agents.
    async fn gateways_may_widen(&self, scope: TenantScope) -> Result<bool, StoreError>;

    /// Sets or clears that permission.
    async fn let_gateways_widen(&self, scope: TenantScope, may: bool) -> Result<(), StoreError>;

    /// Returns true if an agent may stop the turns of its tenant's other agents.
    async fn may_stop_others(&self, scope: TenantScope, agent: AgentId)
    -> Result<bool, StoreError>;

    /// Sets or clears that permission. Returns false if the tenant has no such agent.
    async fn let_stop_others(
        &self,
        scope: TenantScope,
        agent: AgentId,
        may: bool,
    ) -> Result<bool, StoreError>;
}

/// Returns true if a caller may make the change.
pub async fn may_change_reach(
    store: &dyn Managing,
    caller: &Caller,
    wish: ReachChangeRequest<'_>,
) -> Result<bool, StoreError> {
    // A change that does not widen the narrowest reach widens no reach, so no read is needed: a gateway declares at
    // every boot.
    if caller.proof == CallerProof::Token || !wish.widens(&AgentReach::NARROWEST) {
        return Ok(true);
    }
    let now = store.reach_of(caller.scope, caller.agent).await?;
    Ok(!wish.widens(&now) || store.gateways_may_widen(caller.scope).await?)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const BOT: BotId = BotId::from_uuid(Uuid::from_u128(1));
    const OTHER: BotId = BotId::from_uuid(Uuid::from_u128(2));

    fn reach(principal: Principal, granted: Principal) -> AgentReach {
        AgentReach {
            principal,
            people: vec![(BOT, "ann".to_owned())],
            grants: vec![(BOT, GrantTarget::Bot, granted)],
            listed: vec![(BOT, "bob".to_owned())],
            relevance: Vec::new(),
        }
    }

    #[test]
    fn only_what_lets_nobody_new_in_is_narrow() {
        use Principal::{AllowList, Any, OwnerOnly};
        let now = reach(AllowList, AllowList);
        let (bob, none): (_, [String; 0]) = (["bob".to_owned()], []);
        let eve = ["bob".to_owned(), "eve".to_owned()];
        let cases = [
            (ReachChangeRequest::Link, true),
            (ReachChangeRequest::Prefer, true),
            (ReachChangeRequest::Claim, true),
            (ReachChangeRequest::Unlink, false),
            (ReachChangeRequest::Release, false),
            (ReachChangeRequest::Declare, false),
            (ReachChangeRequest::Deprovision, false),
            (ReachChangeRequest::Open(OwnerOnly), false),
            (ReachChangeRequest::Open(AllowList), false),
            (ReachChangeRequest::Open(Any), true),
            (ReachChangeRequest::List(BOT, &bob), false),
            (ReachChangeRequest::List(BOT, &none), false),
            (ReachChangeRequest::List(BOT, &eve), true),
            (ReachChangeRequest::List(OTHER, &bob), true),
        ];
        for (wish, widens) in cases {
            assert_eq!(wish.widens(&now), widens, "{wish:?}");
        }
    }

    #[test]
    fn what_widens_some_reach_widens_the_narrowest() {
        use Principal::{AllowList, Any, OwnerOnly};
        let bob = ["bob".to_owned()];
        let wishes = [
            ReachChangeRequest::Link,
            ReachChangeRequest::Open(Any),
            ReachChangeRequest::Open(AllowList),
            ReachChangeRequest::List(OTHER, &bob),
        ];
        for wish in wishes {
            assert!(wish.widens(&AgentReach::NARROWEST), "{wish:?}");
        }
        for wish in [
            ReachChangeRequest::Declare,
            ReachChangeRequest::Open(OwnerOnly),
            ReachChangeRequest::List(BOT, &[]),
        ] {
            assert!(!wish.widens(&AgentReach::NARROWEST), "{wish:?}");
        }
    }

    #[test]
    fn what_is_open_in_one_place_is_not_opened_in_another_by_the_way() {
        use Principal::{Any, OwnerOnly};
        assert!(
            ReachChangeRequest::Open(Any).widens(&reach(Any, OwnerOnly)),
            "a grant is not open to all"
        );
        assert!(
            ReachChangeRequest::Open(Any).widens(&reach(OwnerOnly, Any)),
            "later ones would be"
        );
        assert!(!ReachChangeRequest::Open(Any).widens(&reach(Any, Any)));
    }
}
