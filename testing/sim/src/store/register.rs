//! Implements the register's port.

use std::time::Duration;

use nightdesk_register::audit::{Chain, Deed, Kind, Link};
use nightdesk_register::enrolment::{
    Digest, Enrol, Enrolled, Identity, NewInvitation, StoredClient,
};
use nightdesk_register::issuer::{Refreshed, Session, StoredKey};
use nightdesk_register::provision::{Front, Provision, Provisioned};
use nightdesk_register::{
    Gap, GreetedBot, Hearing, HeldCommand, Lessee, ListedGateway, Named, NewBot, NewSecret, OnBot,
    OpenBot, Proof, ReachOf, Redeemed, StoredBot, StoredCapability, StoredSecret,
};
use nightdesk_types::{
    AgentId, BotId, ClientId, ClientRules, DataKeyId, GatewayId, Granted, Principal, Quota,
    Relevance, TenantId, TenantScope, Timestamp,
};
use nightdesk_vault::WrappedKey;

use super::through;

through! { nightdesk_register::Entering {
    fn create_tenant(id: TenantId, name: &str, key: &WrappedKey) -> ();
    fn data_key(scope: TenantScope) -> (DataKeyId, WrappedKey);
    fn create_agent(scope: TenantScope, name: &str) -> AgentId;
    fn create_bot(scope: TenantScope, bot: &NewBot) -> BotId;
}}

through! { nightdesk_register::Reaching {
    fn bind(on: OnBot, author: &str) -> ();
    fn unbind(on: OnBot, author: &str) -> ();
    fn prefer(on: OnBot, author: &str) -> bool;
    fn grant(on: OnBot, granted: &Granted, principal: Option<Principal>) -> bool;
    fn release(on: OnBot, granted: &Granted) -> bool;
    fn open_to(scope: TenantScope, agent: AgentId, principal: Principal) -> ();
    fn list(on: OnBot, authors: &[String]) -> ();
    fn follow_rules(scope: TenantScope, agent: AgentId, rules: ClientRules) -> ();
    fn declare(
        scope: TenantScope, agent: AgentId, platform: &str, relevance: &Relevance
    ) -> ();
}}

through! { nightdesk_register::Linking {
    fn enter_code(scope: TenantScope, agent: AgentId, code: &Digest) -> bool;
    fn redeem(bot: BotId, author: &str, code: &Digest) -> Redeemed;
    fn share(scope: TenantScope, bot: BotId, shared: bool) -> bool;
}}

through! { nightdesk_register::Managing {
    fn reach_of(scope: TenantScope, agent: AgentId) -> ReachOf;
    fn open_bots(scope: TenantScope) -> Vec<OpenBot>;
    fn deprovision(scope: TenantScope, agent: AgentId) -> Vec<GatewayId>;
    fn gateways_may_widen(scope: TenantScope) -> bool;
    fn let_gateways_widen(scope: TenantScope, may: bool) -> ();
}}

through! { nightdesk_register::Gateways {
    fn create_gateway(
        scope: TenantScope, agent: AgentId, name: &str, secret: &NewSecret
    ) -> GatewayId;
    fn rotate(
        scope: TenantScope, name: &str, secret: &NewSecret, overlap: Duration
    ) -> Option<GatewayId>;
    fn revoke(scope: TenantScope, name: &str) -> bool;
    fn gateways_named(name: &str) -> Vec<StoredSecret>;
    fn gateway_for_tokens(scope: TenantScope, agent: AgentId) -> Option<Proof>;
    fn revoked_within(span: Duration) -> Vec<(TenantId, GatewayId)>;
}}

through! { nightdesk_register::Bots {
    fn bot_at(path: &str) -> Option<StoredBot>;
    fn listening_bots(adapters: &[String]) -> Vec<BotId>;
    fn bot(id: BotId) -> Option<StoredBot>;
    fn rotate_bot_key(scope: TenantScope, bot: BotId, key: &NewSecret, overlap: Duration) -> bool;
    fn hook_path(scope: TenantScope, bot: BotId) -> Option<String>;
    fn remove_bot(scope: TenantScope, bot: BotId) -> bool;
    fn bots_of(scope: TenantScope, agent: AgentId) -> Vec<GreetedBot>;
    fn time() -> Timestamp;
}}

through! { nightdesk_register::Hearings {
    fn heard(scope: TenantScope, bot: BotId, kept: Duration, lost: &str) -> ();
    fn unheard(scope: TenantScope, bot: BotId, why: &str, deaf_after: Duration) -> bool;
    fn said(scope: TenantScope, bot: BotId) -> ();
    fn missed(scope: TenantScope, bot: BotId, words: &str) -> Gap;
    fn begin(scope: TenantScope, bot: BotId) -> bool;
    fn hearings(scope: TenantScope) -> Vec<Hearing>;
}}

through! { nightdesk_register::Lending {
    fn capability(lessee: &Lessee<'_>) -> Option<StoredCapability>;
    fn place(lessee: &Lessee<'_>) -> Option<(BotId, String)>;
}}

through! { nightdesk_register::Commanding {
    fn commands_of(scope: TenantScope, agent: AgentId, bot: BotId) -> Vec<HeldCommand>;
    fn claim_command(on: OnBot, scope_id: &str, name: &str) -> bool;
    fn note_command(on: OnBot, command: &HeldCommand) -> ();
    fn drop_command(on: OnBot, scope_id: &str, name: &str) -> ();
}}

through! { nightdesk_register::Listing {
    fn tenants_called(called: &str) -> Vec<Named<TenantId>>;
    fn tenants(after: &str) -> Vec<Named<TenantId>>;
    fn agents_called(scope: TenantScope, called: &str) -> Vec<Named<AgentId>>;
    fn agents(scope: TenantScope, after: &str) -> Vec<Named<AgentId>>;
    fn gateways(scope: TenantScope, after: &str) -> Vec<ListedGateway>;
}}

through! { nightdesk_register::enrolment::Enrolling {
    fn invite(scope: TenantScope, agent: AgentId, invitation: &NewInvitation) -> ();
    fn client(id: ClientId) -> Option<StoredClient>;
    fn revoke_client(scope: TenantScope, id: ClientId) -> bool;
    fn enrol(identity: &Identity, enrol: &Enrol) -> Enrolled;
}}

through! { nightdesk_register::provision::Provisioning {
    fn provision(identity: &Identity, provision: &Provision) -> Provisioned;
    fn fronts(scope: TenantScope, gateway: &str) -> Vec<Front>;
}}

through! { nightdesk_register::Quotas {
    fn quotas(scope: TenantScope) -> Vec<(Quota, i64)>;
    fn set_quota(scope: TenantScope, quota: Quota, allowed: i64) -> ();
}}

through! { nightdesk_register::audit::Auditing {
    fn note(scope: TenantScope, kind: Kind, about: &serde_json::Value) -> ();
    fn deeds(scope: TenantScope, after: i64, rows_max: i64) -> Vec<Deed>;
    fn chain(scope: TenantScope) -> Chain;
    fn heads(after: Option<TenantId>, lately: bool) -> Vec<(TenantId, Link)>;
}}

through! { nightdesk_register::issuer::Issuing {
    fn signing_keys() -> Vec<StoredKey>;
    fn enter_signing_key(key: &StoredKey) -> Vec<StoredKey>;
    fn retire_signing_key(kid: &str) -> bool;
}}

through! { nightdesk_register::issuer::Sessions {
    fn begin_session(
        scope: TenantScope, agent: AgentId, session: &Session, refresh: Option<Digest>
    ) -> bool;
    fn end_session(scope: TenantScope, session: &Session) -> bool;
    fn agent_of_session(scope: TenantScope, session: &Session) -> Option<AgentId>;
    fn refresh(tenant: TenantId, session: &str, shown: Digest, next: Digest) -> Refreshed;
}}
