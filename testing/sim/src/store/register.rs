//! Implements the register's port.

use std::time::Duration;

use nightdesk_register::audit::{AuditRecord, Chain, ChainLink, Kind};
use nightdesk_register::enrolment::{
    Digest, EnrolmentRequest, EnrolmentResult, Identity, NewInvitation, StoredClient,
};
use nightdesk_register::issuer::{IssuerSession, NextRefresh, RefreshResult, StoredKey};
use nightdesk_register::provision::{Front, GatewayProvision, ProvisionResult};
use nightdesk_register::{
    AgentOnBot, AgentReach, BotReception, CapabilitySession, Gap, GatewayProof, GreetedBot,
    HeldCommand, ListedGateway, ListedIdentity, NewBot, NewSecret, OpenBot, RedeemResult,
    StoredBot, StoredCapability, StoredSecret,
};
use nightdesk_types::{
    Actor, AgentId, BotId, ClientId, ClientRules, DataKeyId, GatewayId, GrantTarget, Principal,
    Quota, Relevance, TenantId, TenantScope, Timestamp,
};
use nightdesk_vault::WrappedKey;

use super::through;

through! { nightdesk_register::IdentityStore {
    fn create_tenant(scope: TenantScope, name: &str, key: &WrappedKey) -> ();
    fn data_key(scope: TenantScope) -> (DataKeyId, WrappedKey);
    fn create_agent(scope: TenantScope, name: &str) -> AgentId;
    fn create_bot(scope: TenantScope, bot: &NewBot) -> BotId;
}}

through! { nightdesk_register::Reaching {
    fn bind(on: AgentOnBot, author: &str) -> ();
    fn unbind(on: AgentOnBot, author: &str) -> ();
    fn prefer(on: AgentOnBot, author: &str) -> bool;
    fn grant(on: AgentOnBot, granted: &GrantTarget, principal: Option<Principal>) -> bool;
    fn allow_moderation(on: AgentOnBot, granted: &GrantTarget) -> bool;
    fn release(on: AgentOnBot, granted: &GrantTarget) -> bool;
    fn open_to(scope: TenantScope, agent: AgentId, principal: Principal) -> ();
    fn list(on: AgentOnBot, authors: &[String]) -> ();
    fn follow_rules(scope: TenantScope, agent: AgentId, rules: ClientRules) -> ();
    fn declare(
        scope: TenantScope, agent: AgentId, platform: &str, relevance: &Relevance
    ) -> ();
}}

through! { nightdesk_register::Linking {
    fn enter_code(scope: TenantScope, agent: AgentId, code: &Digest) -> bool;
    fn redeem(bot: BotId, author: &str, code: &Digest) -> RedeemResult;
    fn share(scope: TenantScope, bot: BotId, shared: bool) -> bool;
}}

through! { nightdesk_register::Managing {
    fn reach_of(scope: TenantScope, agent: AgentId) -> AgentReach;
    fn open_bots(scope: TenantScope) -> Vec<OpenBot>;
    fn deprovision(scope: TenantScope, agent: AgentId) -> Vec<GatewayId>;
    fn gateways_may_widen(scope: TenantScope) -> bool;
    fn let_gateways_widen(scope: TenantScope, may: bool) -> ();
    fn may_stop_others(scope: TenantScope, agent: AgentId) -> bool;
    fn let_stop_others(scope: TenantScope, agent: AgentId, may: bool) -> bool;
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
    fn gateway_for_tokens(scope: TenantScope, agent: AgentId) -> Option<GatewayProof>;
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

through! { nightdesk_register::ReceptionStore {
    fn record_reception(scope: TenantScope, bot: BotId, kept: Duration, lost: &str) -> ();
    fn record_outage(scope: TenantScope, bot: BotId, why: &str, deaf_after: Duration) -> bool;
    fn record_message(scope: TenantScope, bot: BotId) -> ();
    fn record_gap(scope: TenantScope, bot: BotId, words: &str) -> Gap;
    fn begin(scope: TenantScope, bot: BotId) -> bool;
    fn receptions(scope: TenantScope) -> Vec<BotReception>;
}}

through! { nightdesk_register::CapabilityStore {
    fn capability(lessee: &CapabilitySession<'_>) -> Option<StoredCapability>;
    fn capability_place(lessee: &CapabilitySession<'_>) -> Option<(BotId, String)>;
}}

through! { nightdesk_register::CommandStore {
    fn commands_of(scope: TenantScope, agent: AgentId, bot: BotId) -> Vec<HeldCommand>;
    fn claim_command(on: AgentOnBot, scope_id: &str, name: &str) -> bool;
    fn note_command(on: AgentOnBot, command: &HeldCommand) -> ();
    fn drop_command(on: AgentOnBot, scope_id: &str, name: &str) -> ();
}}

through! { nightdesk_register::Listing {
    fn tenants_called(called: &str) -> Vec<ListedIdentity<TenantId>>;
    fn tenants(after: &str) -> Vec<ListedIdentity<TenantId>>;
    fn agents_called(scope: TenantScope, called: &str) -> Vec<ListedIdentity<AgentId>>;
    fn agents(scope: TenantScope, after: &str) -> Vec<ListedIdentity<AgentId>>;
    fn gateways(scope: TenantScope, after: &str) -> Vec<ListedGateway>;
    fn gateways_of(scope: TenantScope, agent: AgentId) -> Vec<ListedGateway>;
}}

through! { nightdesk_register::enrolment::Enrolling {
    fn invite(scope: TenantScope, agent: AgentId, invitation: &NewInvitation) -> ();
    fn client(id: ClientId) -> Option<StoredClient>;
    fn revoke_client(scope: TenantScope, id: ClientId) -> bool;
    fn enrol(identity: &Identity, enrol: &EnrolmentRequest) -> EnrolmentResult;
}}

through! { nightdesk_register::provision::Provisioning {
    fn provision(identity: &Identity, provision: &GatewayProvision) -> ProvisionResult;
    fn fronts(scope: TenantScope, gateway: &str) -> Vec<Front>;
}}

through! { nightdesk_register::Quotas {
    fn quotas(scope: TenantScope) -> Vec<(Quota, i64)>;
    fn set_quota(scope: TenantScope, quota: Quota, allowed: i64) -> ();
}}

through! { nightdesk_register::audit::Auditing {
    fn note(scope: TenantScope, kind: Kind, about: &serde_json::Value) -> ();
    fn audit_records(scope: TenantScope, after: i64, rows_max: i64) -> Vec<AuditRecord>;
    fn chain(scope: TenantScope) -> Chain;
    fn chain_heads(after: Option<TenantId>, lately: bool) -> Vec<(TenantId, ChainLink)>;
}}

through! { nightdesk_register::issuer::Issuing {
    fn signing_keys() -> Vec<StoredKey>;
    fn enter_signing_key(key: &StoredKey) -> Vec<StoredKey>;
    fn retire_signing_key(by: Actor, kid: &str) -> bool;
}}

through! { nightdesk_register::issuer::Sessions {
    fn begin_session(
        scope: TenantScope, agent: AgentId, session: &IssuerSession, refresh: Option<Digest>
    ) -> bool;
    fn end_session(scope: TenantScope, session: &IssuerSession) -> bool;
    fn agent_of_session(scope: TenantScope, session: &IssuerSession) -> Option<AgentId>;
    fn refresh(tenant: TenantId, session: &str, shown: Digest, next: NextRefresh) -> RefreshResult;
}}
