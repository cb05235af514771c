//! The front office: what operators and tenants see and do.
//!
//! # Promise
//!
//! The API, the dashboard and the commands call the same functions, so they show the same and refuse the same. A
//! function gets a scope, which only the check of a right makes. An error says what to do next. No view contains the
//! text of a message, unless its function says so and needs the right to read messages.
//!
//! Begin with [`Office`]; each file has the views and the actions of one noun.

mod agents;
mod alerts;
mod audit;
mod bot_check;
mod bot_connect;
mod bot_keys;
mod bots;
mod condition;
mod data;
mod doctor;
mod error;
mod explain;
mod gateways;
mod glass;
mod identities;
mod inbox;
mod issuer;
mod jobs;
mod letters;
mod lines;
mod logins;
mod notices;
mod office;
mod ports;
mod reach;
mod reads;
mod skills;
mod stops;
mod stuck;
mod tenants;
mod timeline;
mod times;
mod tokens;
mod usage;
mod users;
mod wakes;
mod webhook;

pub use agents::{AgentListQuery, AgentRow, LIST_ROWS, TenantSummary};
pub use alerts::{
    AlertChatRequest, AlertView, AlertWayRequest, AlertWayView, CreatedAlertWay, RemovedAlertWay,
    TestedAlertWay, WayOwner,
};
pub use audit::{AuditChainView, AuditCheckView, AuditRowView};
pub use bot_check::BotCheck;
pub use bot_connect::BotConnectRequest;
pub use bot_keys::{BotKeyRequest, RotatedBotKey, SecretText};
pub use bots::{BotAudience, BotShare, BotView, CreatedBot, NewBotRequest, RemovedBot};
pub use condition::{AgentCondition, explain_condition};
pub use data::DataEntryView;
pub use doctor::{
    DeskQuestionKey, DoctorFinding, DoctorMode, DoctorReport, FindingSeverity, NodeExaminer,
    PUBLIC_URL_CHECK,
};
pub use error::OfficeError;
pub use explain::HypotheticalEvent;
pub use gateways::{
    DeprovisionedAgent, FrontView, GatewaySecretView, GatewayTrust, GatewayTrustView, GatewayView,
    InvitationView, RevokedGateway, SecretLifeView,
};
pub use glass::GlassView;
pub use identities::{CreatedAgent, CreatedTenant, IdentityView, TenantSelector, single_match};
pub use inbox::{EntryView, InboxView, ParkedEntry, ResubmittedEntry, TextAccess};
pub use issuer::{
    AgentTokenView, BoundSession, EndedSession, RetiredSigningKey, SessionCredentials,
    SigningKeyView,
};
pub use jobs::{
    ArmedJobView, FireListQuery, FireView, JobCancelView, JobFireView, JobListQuery, JobView,
    NewJobRequest,
};
pub use letters::{
    CreatedLetterHook, LetterGrantChange, LetterGrantView, LetterHookView, LetterView,
    NewLetterRequest, PeerSelector,
};
pub use lines::{LineView, LoggedWakeView, ReceivedLetterView};
pub use notices::NoticeView;
pub use office::{Office, OfficeParts, OfficeStore};
pub use ports::{
    DataCustody, PlatformAccount, PlatformFindings, PlatformSetup, PlatformSetups, UpdateDelivery,
};
pub use reach::{
    AgentReachView, BindingView, ChatGrantView, GrantView, LinkBotView, LinkCodeView, PersonView,
    TenantGrantView, TenantPersonView, read_principal,
};
pub use reads::{
    AgentGlance, AgentGlances, AgentSelection, BindingKey, BoundedCount, GrantKey, LineGlance,
    LoggedWake, NodeRecord, OfficeReads, ParkedGroup, ParkedKey, ParkedRow, QuarantineGroup,
    ReachReads, ReceivedLetter, RefusalGroup, StoredTotals, StuckReads, TenantBinding,
    TenantGlance, TenantGrant, UsageReads, UsageTotals,
};
pub use skills::{
    RemovedSkill, SkillAdmin, SkillAuthority, SkillCheck, SkillRemoval, SkillRow, SkillSignature,
};
pub use stops::{StopPermission, StopPermissionView, TurnStopView};
pub use stuck::{
    BulkOutcome, DropConfirmation, ParkedGroupView, ParkedRowView, QuarantineGroupView,
    RefusalGroupView, StuckView,
};
pub use tenants::{BegunHistory, ErasedTenant, QuotaValues, RotatedTenantKey};
pub use timeline::{EntryStep, EntryTimeline};
pub use times::{ago, duration_text};
pub use tokens::{CreatedTokenView, NewTokenRequest, TokenView, WhoAmI};
pub use usage::{NodeView, TenantUsageView, UsageView};
pub use users::{CreatedLink, RoleView, UserView, read_role};
pub use wakes::{AgentWakeView, WakeCallView, WakeTrialView, WakeUrlsView};
pub use webhook::{WebhookCredentials, WebhookView};
