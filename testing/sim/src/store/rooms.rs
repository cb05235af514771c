//! Implements the ports of leases, wakes, schedules, letters, shelves and the webchat.

use std::time::Duration;

use nightdesk_lease::{Life, Owner, Renewal, Resource};
use nightdesk_letters::{
    AddressFacts, AddressQuery, DeliveryRecord, DueLetter, Grant, Letter, Party, Peer, PeerLine,
    Posting, PostingOutcome, Receipt, ReplyOutcome,
};
use nightdesk_schedule::{
    ActiveJob, ArmRequest, CancelOutcome, ClaimBatch, Fire, FireClaim as ClaimedFire, FireEnding,
    FireEntry, JobId, RunReport, ScheduledJob, UnarmedJob,
};
use nightdesk_shelf::{
    Approval, ContractResult, DataQuery, DataWriteRecord, NewData, PortableData, ShelfState,
    SkillMeta, SkillPatch, SkillSource, SkillStatus, VersionInfo,
};
use nightdesk_types::{AgentId, FireId, Generation, LetterId, Node, NodeEpoch, Seq, TenantScope};
use nightdesk_wake::{
    AgentWakeStatus, AgentWebhook, NewWebhook, OwnerNotice, WakeClaim, WakeSelection, WakeTerms,
};
use nightdesk_webchat::store::{
    AgentMessage, ChatUpdate, LineChange, VisitorChat, VisitorMessage, WriteOutcome,
};

use super::through;

through! { nightdesk_lease::Store {
    fn begin(name: &str, lasts: Duration) -> NodeEpoch;
    fn renew(node: &Node, lasts: Duration) -> Renewal;
    fn end(node: &Node) -> ();
    fn read_lives() -> Vec<Life>;
    fn end_lives(lives: &[Life]) -> Vec<Node>;
    fn count_living() -> u32;
    fn find_or_claim(resource: Resource, node: &Node) -> Option<Owner>;
}}

through! { nightdesk_wake::Store {
    fn claim(which: WakeSelection, terms: &WakeTerms) -> Vec<WakeClaim>;
    fn record_outcome(claimed: &WakeClaim, outcome: &str, wait: Duration) -> ();
    fn put_off(claimed: &WakeClaim, wait: Duration) -> ();
    fn record_notified(claimed: &WakeClaim) -> ();
    fn record_delay_told(claimed: &WakeClaim) -> ();
    fn suspect(scope: TenantScope, agent: AgentId, line: Generation) -> ();
    fn close_dead_lines() -> u64;
}}

through! { nightdesk_wake::WakeAdmin {
    fn wake_urls(scope: TenantScope, agent: AgentId) -> Vec<String>;
    fn set_wake_urls(scope: TenantScope, agent: AgentId, urls: &[String]) -> ();
    fn webhook(scope: TenantScope, agent: AgentId) -> Option<AgentWebhook>;
    fn set_webhook(scope: TenantScope, agent: AgentId, webhook: Option<&NewWebhook>) -> ();
    fn request_call(scope: TenantScope, agent: AgentId) -> ();
    fn status(scope: TenantScope, agent: Option<AgentId>, after: &str) -> Vec<AgentWakeStatus>;
    fn notices(scope: TenantScope) -> Vec<OwnerNotice>;
}}

through! { nightdesk_schedule::Store {
    fn arm(scope: TenantScope, agent: AgentId, arm: &ArmRequest) -> ActiveJob;
    fn cancel(scope: TenantScope, agent: AgentId, job: &JobId) -> CancelOutcome;
    fn armed_jobs(scope: TenantScope, agent: AgentId) -> Vec<ActiveJob>;
    fn claim(node: &Node, at_most: usize) -> ClaimBatch;
    fn end(endings: &[FireEnding]) -> Vec<bool>;
    fn put(claimed: &ClaimedFire, entry: &FireEntry, outcome: &str) -> Option<Seq>;
    fn record_retry(claimed: &ClaimedFire, outcome: &str, wait: Duration, counts: bool) -> bool;
    fn report(scope: TenantScope, agent: AgentId, fire: FireId, report: &RunReport) -> bool;
    fn flag_unarmed() -> Vec<UnarmedJob>;
}}

through! { nightdesk_shelf::Skills {
    fn put_skill(scope: TenantScope, name: &str, source: &str, patch: &SkillPatch) -> ContractResult<VersionInfo>;
    fn skill(scope: TenantScope, name: &str, version: Option<&str>) -> ContractResult<SkillSource>;
    fn skills(scope: TenantScope) -> Vec<SkillMeta>;
    fn skill_sources(scope: TenantScope) -> Vec<SkillSource>;
    fn skill_versions(scope: TenantScope, name: &str) -> ContractResult<Vec<VersionInfo>>;
    fn set_skill_status(scope: TenantScope, name: &str, status: SkillStatus) -> ContractResult<VersionInfo>;
    fn delete_skill(scope: TenantScope, name: &str) -> bool;
    fn shelf(scope: TenantScope) -> ShelfState;
    fn secure_shelf(scope: TenantScope, approval: &Approval) -> ();
}}

through! { nightdesk_shelf::Records {
    fn put_data(scope: TenantScope, new: &NewData) -> DataWriteRecord;
    fn data(scope: TenantScope, id: &str) -> Option<PortableData>;
    fn query_data(scope: TenantScope, query: &DataQuery) -> Vec<PortableData>;
}}

through! { nightdesk_schedule::JobAdmin {
    fn list_jobs(scope: TenantScope, agent: Option<AgentId>, after: Option<(AgentId, JobId)>) -> Vec<ScheduledJob>;
    fn find_job(scope: TenantScope, agent: AgentId, job: &JobId) -> Option<ScheduledJob>;
    fn list_fires(
        scope: TenantScope,
        of: Option<(AgentId, Option<JobId>)>,
        before: Option<FireId>
    ) -> Vec<Fire>;
}}

through! { nightdesk_letters::LetterStore {
    fn resolve_addresses(queries: &[AddressQuery]) -> Vec<AddressFacts>;
    fn put(postings: &[Posting]) -> Vec<PostingOutcome>;
    fn take_due(to: Party, letter: LetterId) -> Option<DueLetter>;
    fn record_delivery(to: Party, letter: LetterId, seq: Option<Seq>) -> ();
    fn store_reply(by: Party, letter: LetterId, words: &str) -> ReplyOutcome;
    fn letter(from: Party, letter: LetterId) -> Option<Letter>;
    fn letters(from: Party, before: Option<LetterId>) -> Vec<Letter>;
    fn peers(of: Party, at_most: usize) -> Vec<Peer>;
    fn find_line(party: Party) -> Option<PeerLine>;
}}

through! { nightdesk_letters::Grants {
    fn grant(party: Party, peer: Party) -> bool;
    fn release(party: Party, peer: Party) -> bool;
    fn grants(scope: TenantScope, agent: Option<AgentId>, at_most: usize) -> Vec<Grant>;
}}

through! { nightdesk_letters::Hooks {
    fn make_hook(party: Party, name: &str, digest: [u8; 32]) -> bool;
    fn remove_hook(scope: TenantScope, name: &str) -> bool;
    fn hooks(scope: TenantScope, at_most: usize) -> Vec<(String, Party)>;
    fn find_hook_agent(digest: [u8; 32]) -> Option<Party>;
}}

through! { nightdesk_letters::Receipts {
    fn store_receipts(receipts: &[Receipt]) -> ();
    fn read_receipts(scope: TenantScope, dispatch_id: &str) -> Vec<DeliveryRecord>;
}}

through! { nightdesk_webchat::store::Store {
    fn write_visitor_message(chat: &VisitorChat, said: &VisitorMessage) -> WriteOutcome;
    fn write_agent_message(chat: &VisitorChat, answer: &AgentMessage) -> i64;
    fn change_line(chat: &VisitorChat, message: i64, amend: &LineChange) -> bool;
    fn set_status(chat: &VisitorChat, status: Option<&str>) -> ();
    fn lines_since(chat: &VisitorChat, after: i64, lines_max: usize) -> ChatUpdate;
    fn latest_lines(chat: &VisitorChat, lines_max: usize) -> ChatUpdate;
    fn delete_old() -> u64;
}}
