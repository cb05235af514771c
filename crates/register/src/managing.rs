//! Managing: what may be asked about an agent's reach, and by which proof.
//!
//! A gateway's secret lies on the agent's machine. Whoever steals it may narrow whom the agent can be reached by,
//! but not widen it: for that a token is needed, or a tenant that says otherwise.

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, BotId, GatewayId, Granted, Principal, Relevance, StoreError, TenantScope,
};

use crate::caller::{By, Caller};

/// Whom an agent can be reached by, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachOf {
    /// By whom where it is granted something from now on.
    pub principal: Principal,
    /// People bound to it.
    pub people: Vec<(BotId, String)>,
    /// What was granted to it, and to whom it is open there.
    pub grants: Vec<(BotId, Granted, Principal)>,
    /// Who else is on its list.
    pub listed: Vec<(BotId, String)>,
    /// What concerns it, by platform.
    pub relevance: Vec<(String, Relevance)>,
}

impl ReachOf {
    /// That of an agent that nobody reaches.
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
    /// Which one.
    pub id: BotId,
    /// Its platform's name.
    pub platform: String,
    /// What the platform calls it.
    pub handle: String,
    /// Whether the tenant runs it.
    pub is_own: bool,
}

/// What is asked about an agent's reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish<'a> {
    /// A code by which a person is linked.
    Link,
    /// That a person is not linked any more.
    Unlink,
    /// To be a person's own where nothing else says which.
    Prefer,
    /// A chat or a scope.
    Claim,
    /// To give one back.
    Release,
    /// To be open to these.
    Open(Principal),
    /// To have these on its list on a bot, and nobody else there.
    List(BotId, &'a [String]),
    /// To say what concerns it, of what it may see.
    Declare,
    /// To be reached by nobody any more.
    Deprovision,
}

impl Wish<'_> {
    /// Whether somebody could reach the agent afterwards who cannot now.
    pub fn widens(&self, now: &ReachOf) -> bool {
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

/// Keeps what managing needs besides.
#[async_trait]
pub trait Managing: Send + Sync {
    /// Whom an agent can be reached by.
    async fn reach_of(&self, scope: TenantScope, agent: AgentId) -> Result<ReachOf, StoreError>;

    /// The bots on which agents of a tenant may be linked.
    async fn open_bots(&self, scope: TenantScope) -> Result<Vec<OpenBot>, StoreError>;

    /// Takes everything from an agent by which it can be reached or dial in. Answers which gateways
    /// were revoked by it.
    async fn deprovision(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GatewayId>, StoreError>;

    /// Whether a tenant lets its gateways' secrets widen the reach of their agents.
    async fn gateways_may_widen(&self, scope: TenantScope) -> Result<bool, StoreError>;

    /// Says so, or takes it back.
    async fn let_gateways_widen(&self, scope: TenantScope, may: bool) -> Result<(), StoreError>;
}

/// Whether a caller may have what they wish.
pub async fn may(
    store: &dyn Managing,
    caller: &Caller,
    wish: Wish<'_>,
) -> Result<bool, StoreError> {
    // What does not widen the narrowest reach widens none, and none need be read: a gateway declares
    // at every boot.
    if caller.by == By::Token || !wish.widens(&ReachOf::NARROWEST) {
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

    fn reach(principal: Principal, granted: Principal) -> ReachOf {
        ReachOf {
            principal,
            people: vec![(BOT, "ann".to_owned())],
            grants: vec![(BOT, Granted::Bot, granted)],
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
            (Wish::Link, true),
            (Wish::Prefer, true),
            (Wish::Claim, true),
            (Wish::Unlink, false),
            (Wish::Release, false),
            (Wish::Declare, false),
            (Wish::Deprovision, false),
            (Wish::Open(OwnerOnly), false),
            (Wish::Open(AllowList), false),
            (Wish::Open(Any), true),
            (Wish::List(BOT, &bob), false),
            (Wish::List(BOT, &none), false),
            (Wish::List(BOT, &eve), true),
            (Wish::List(OTHER, &bob), true),
        ];
        for (wish, widens) in cases {
            assert_eq!(wish.widens(&now), widens, "{wish:?}");
        }
    }

    #[test]
    fn what_widens_some_reach_widens_the_narrowest() {
        use Principal::{AllowList, Any, OwnerOnly};
        let bob = ["bob".to_owned()];
        let wishes = [Wish::Link, Wish::Open(Any), Wish::Open(AllowList), Wish::List(OTHER, &bob)];
        for wish in wishes {
            assert!(wish.widens(&ReachOf::NARROWEST), "{wish:?}");
        }
        for wish in [Wish::Declare, Wish::Open(OwnerOnly), Wish::List(BOT, &[])] {
            assert!(!wish.widens(&ReachOf::NARROWEST), "{wish:?}");
        }
    }

    #[test]
    fn what_is_open_in_one_place_is_not_opened_in_another_by_the_way() {
        use Principal::{Any, OwnerOnly};
        assert!(Wish::Open(Any).widens(&reach(Any, OwnerOnly)), "a grant is not open to all");
        assert!(Wish::Open(Any).widens(&reach(OwnerOnly, Any)), "later ones would be");
        assert!(!Wish::Open(Any).widens(&reach(Any, Any)));
    }
}
