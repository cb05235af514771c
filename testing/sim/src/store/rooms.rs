//! Implements the ports of leases, wakes, schedules, letters, shelves and the webchat.

use std::time::Duration;

use nightdesk_lease::{Owner, Renewed, Resource};
use nightdesk_letters::{
    AddressFacts, AddressQuery, Due, Grant, Letter, Live, Party, Peer, Posting, Put, Receipt,
    Record, ReplyOutcome,
};
use nightdesk_schedule::{
    Arm, Armed, Cancelled, Claimed as ClaimedFire, Claims, End, Fire, FireEntry, Job, JobId,
    Report, Unarmed,
};
use nightdesk_shelf::{
    Approval, Asked, DataQuery, DataWriteRecord, NewData, PortableData, Shelf, SkillMeta,
    SkillPatch, SkillSource, SkillStatus, VersionInfo,
};
use nightdesk_types::{AgentId, FireId, Generation, LetterId, Node, NodeEpoch, Seq, TenantScope};
use nightdesk_wake::{Claimed, Notice, Status, Terms, Which};
use nightdesk_webchat::store::{Amend, Answer, Chat, News, Said, Written};

use super::through;

through! { nightdesk_lease::Store {
    fn begin(name: &str, lasts: Duration) -> NodeEpoch;
    fn renew(node: &Node, lasts: Duration) -> Renewed;
    fn end(node: &Node) -> ();
    fn bury(late: Duration) -> Vec<Node>;
    fn living() -> u32;
    fn own(resource: Resource, node: &Node) -> Option<Owner>;
}}

through! { nightdesk_wake::Store {
    fn claim(which: Which, terms: &Terms) -> Vec<Claimed>;
    fn note(claimed: &Claimed, outcome: &str, wait: Duration) -> ();
    fn put_off(claimed: &Claimed, wait: Duration) -> ();
    fn told(claimed: &Claimed) -> ();
    fn suspect(scope: TenantScope, agent: AgentId, line: Generation) -> ();
    fn bury() -> u64;
}}

through! { nightdesk_wake::Wakers {
    fn wakers(scope: TenantScope, agent: AgentId) -> Vec<String>;
    fn set_wakers(scope: TenantScope, agent: AgentId, urls: &[String]) -> ();
    fn ask(scope: TenantScope, agent: AgentId) -> ();
    fn status(scope: TenantScope, agent: Option<AgentId>, after: &str) -> Vec<Status>;
    fn notices(scope: TenantScope) -> Vec<Notice>;
}}

through! { nightdesk_schedule::Store {
    fn arm(scope: TenantScope, agent: AgentId, arm: &Arm) -> Armed;
    fn cancel(scope: TenantScope, agent: AgentId, job: &JobId) -> Cancelled;
    fn armed(scope: TenantScope, agent: AgentId) -> Vec<Armed>;
    fn claim(node: &Node, at_most: usize) -> Claims;
    fn end(claimed: &ClaimedFire, end: End, outcome: &str) -> bool;
    fn put(claimed: &ClaimedFire, entry: &FireEntry, outcome: &str) -> Option<Seq>;
    fn again(claimed: &ClaimedFire, outcome: &str, wait: Duration, counts: bool) -> bool;
    fn report(scope: TenantScope, agent: AgentId, fire: FireId, report: &Report) -> bool;
    fn flag_unarmed() -> Vec<Unarmed>;
}}

through! { nightdesk_shelf::Skills {
    fn put_skill(scope: TenantScope, name: &str, source: &str, patch: &SkillPatch) -> Asked<VersionInfo>;
    fn skill(scope: TenantScope, name: &str, version: Option<&str>) -> Asked<SkillSource>;
    fn skills(scope: TenantScope) -> Vec<SkillMeta>;
    fn skill_sources(scope: TenantScope) -> Vec<SkillSource>;
    fn skill_versions(scope: TenantScope, name: &str) -> Asked<Vec<VersionInfo>>;
    fn set_skill_status(scope: TenantScope, name: &str, status: SkillStatus) -> Asked<VersionInfo>;
    fn delete_skill(scope: TenantScope, name: &str) -> bool;
    fn shelf(scope: TenantScope) -> Shelf;
    fn secure_shelf(scope: TenantScope, approval: &Approval) -> ();
}}

through! { nightdesk_shelf::Records {
    fn put_data(scope: TenantScope, new: &NewData) -> DataWriteRecord;
    fn data(scope: TenantScope, id: &str) -> Option<PortableData>;
    fn query_data(scope: TenantScope, query: &DataQuery) -> Vec<PortableData>;
}}

through! { nightdesk_schedule::Jobs {
    fn jobs(scope: TenantScope, agent: Option<AgentId>, after: Option<(AgentId, JobId)>) -> Vec<Job>;
    fn job(scope: TenantScope, agent: AgentId, job: &JobId) -> Option<Job>;
    fn fires(
        scope: TenantScope,
        of: Option<(AgentId, Option<JobId>)>,
        before: Option<FireId>
    ) -> Vec<Fire>;
}}

through! { nightdesk_letters::LetterStore {
    fn addresses(queries: &[AddressQuery]) -> Vec<AddressFacts>;
    fn put(postings: &[Posting]) -> Vec<Put>;
    fn due(to: Party, letter: LetterId) -> Option<Due>;
    fn record_delivery(to: Party, letter: LetterId, seq: Option<Seq>) -> ();
    fn reply(by: Party, letter: LetterId, words: &str) -> ReplyOutcome;
    fn letter(from: Party, letter: LetterId) -> Option<Letter>;
    fn letters(from: Party, before: Option<LetterId>) -> Vec<Letter>;
    fn peers(of: Party, at_most: usize) -> Vec<Peer>;
    fn live(party: Party) -> Option<Live>;
}}

through! { nightdesk_letters::Grants {
    fn grant(party: Party, peer: Party) -> bool;
    fn release(party: Party, peer: Party) -> bool;
    fn grants(scope: TenantScope, agent: Option<AgentId>) -> Vec<Grant>;
}}

through! { nightdesk_letters::Hooks {
    fn make_hook(party: Party, name: &str, digest: [u8; 32]) -> bool;
    fn remove_hook(scope: TenantScope, name: &str) -> bool;
    fn hooks(scope: TenantScope) -> Vec<(String, Party)>;
    fn hook_at(digest: [u8; 32]) -> Option<Party>;
}}

through! { nightdesk_letters::Receipts {
    fn note(receipts: &[Receipt]) -> ();
    fn receipts(scope: TenantScope, dispatch_id: &str) -> Vec<Record>;
}}

through! { nightdesk_webchat::store::Store {
    fn said(chat: &Chat, said: &Said) -> Written;
    fn answered(chat: &Chat, answer: &Answer) -> i64;
    fn amend(chat: &Chat, message: i64, amend: &Amend) -> bool;
    fn show(chat: &Chat, status: Option<&str>) -> ();
    fn since(chat: &Chat, after: i64, lines_max: usize) -> News;
    fn latest(chat: &Chat, lines_max: usize) -> News;
    fn forget() -> u64;
}}
