//! Z14: a policy only removes recipients, and a claim reaches no further than its words, for any documents.

use std::collections::BTreeSet;

use nightdesk_gate::bot_reach::{AgentTerms, BotReach, ScopedAgent};
use nightdesk_gate::{EventFacts, EventPlace, ReachChange, Recipient};
use nightdesk_protocol::http::manage::Scope;
use nightdesk_protocol::http::policy::PolicyRequest;
use nightdesk_types::reach::{EVERY_CHAT, GrantTarget};
use nightdesk_types::{AgentId, Principal, Relevance, TenantId, TenantScope};
use serde::Deserialize;
use uuid::Uuid;

/// Documents of one agent, and an event.
#[derive(Debug, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of the event on its own")]
struct ReachDocuments {
    policy: Option<PolicyRequest>,
    scopes: Vec<Scope>,
    principal: String,
    listed: BTreeSet<String>,
    author: String,
    chat: String,
    scope: Option<String>,
    parent: Option<String>,
    is_direct: bool,
    is_program: bool,
    is_addressed: bool,
    is_bound: bool,
}

impl Default for ReachDocuments {
    fn default() -> Self {
        Self {
            policy: None,
            scopes: Vec::new(),
            principal: "any".to_owned(),
            listed: BTreeSet::new(),
            author: "ann".to_owned(),
            chat: "c".to_owned(),
            scope: None,
            parent: None,
            is_direct: false,
            is_program: false,
            is_addressed: false,
            is_bound: false,
        }
    }
}

pub(super) fn run(data: &[u8]) {
    let Ok(documents) = serde_json::from_slice::<ReachDocuments>(data) else { return };
    let everything = Relevance { allow_other_bots: true, ..Relevance::default() };
    let reached = documents.recipients(documents.relevance());
    let without_policy = documents.recipients(everything);
    for recipient in &reached {
        assert!(without_policy.contains(recipient), "a policy added {recipient:?}: {documents:?}");
    }
    if !reached.is_empty() && !documents.is_own() {
        assert!(documents.is_welcome(), "the author may not reach the agent: {documents:?}");
        assert!(documents.is_claimed(), "no claim covers the place: {documents:?}");
        assert!(documents.is_relevant(), "the policy excludes the event: {documents:?}");
    }
}

impl ReachDocuments {
    /// Returns the policy as the route stores it.
    fn relevance(&self) -> Relevance {
        let Some(policy) = &self.policy else { return Relevance::default() };
        Relevance {
            require_address: policy.require_address,
            free_scopes: policy.free_response_scopes.clone(),
            allow_other_bots: policy.allow_other_bots,
            continues_threads: false,
        }
    }

    fn recipients(&self, relevance: Relevance) -> Vec<Recipient> {
        let holder = Principal::from_slug(&self.principal).map(|principal| (agent(), principal));
        let grants = self.scopes.iter().map(|claim| (target(claim), holder));
        let owners = vec!["owner".to_owned()];
        let terms = AgentTerms { version: 1, listed: self.listed.clone(), owners, relevance };
        let author = (self.author.clone(), vec![agent()]);
        let mut reach = BotReach::default();
        reach.apply(ReachChange {
            version: 1,
            is_whole: true,
            authors: if self.is_bound { vec![author] } else { Vec::new() },
            grants: grants.collect(),
            agents: vec![(agent(), terms)],
        });
        reach.decide(&self.facts(), None).recipients().unwrap_or_default()
    }

    fn facts(&self) -> EventFacts<'_> {
        EventFacts {
            author: &self.author,
            is_program: self.is_program,
            is_addressed: self.is_addressed,
            takes_part: false,
            place: EventPlace {
                scope: self.scope.as_deref(),
                chat: &self.chat,
                parent: self.parent.as_deref(),
                is_direct: self.is_direct,
            },
        }
    }

    /// Returns true if the author is the agent's own person.
    const fn is_own(&self) -> bool {
        self.is_bound && !self.is_program
    }

    fn is_welcome(&self) -> bool {
        match self.principal.as_str() {
            "any" => true,
            "allow-list" => self.listed.contains(&self.author),
            _ => false,
        }
    }

    fn is_claimed(&self) -> bool {
        self.scopes.iter().any(|claim| {
            let chat = claim.chat_id.as_deref().unwrap_or(EVERY_CHAT);
            let is_chat = chat == self.chat || Some(chat) == self.parent.as_deref();
            let is_scope = claim.scope_id.is_none() || claim.scope_id == self.scope;
            is_scope && (is_chat || chat == EVERY_CHAT)
        })
    }

    fn is_relevant(&self) -> bool {
        let Some(policy) = &self.policy else { return !self.is_program };
        let places = [Some(&self.chat), self.scope.as_ref(), self.parent.as_ref()];
        let is_free = policy.free_response_scopes.iter().any(|free| places.contains(&Some(free)));
        let is_heard = !policy.require_address || self.is_addressed || self.is_direct || is_free;
        is_heard && (policy.allow_other_bots || !self.is_program)
    }
}

fn target(claim: &Scope) -> GrantTarget {
    let chat = claim.chat_id.as_deref().unwrap_or(EVERY_CHAT);
    GrantTarget::for_chat(claim.scope_id.as_deref(), chat)
}

const fn agent() -> ScopedAgent {
    let scope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)));
    (scope, AgentId::from_uuid(Uuid::from_u128(2)))
}
