//! Implements the ports of the stops: inbox, lines, gate, egress.

use std::time::Duration;

use nightdesk_egress::{AbandonedSend, PastSend, SendKey, SendPlace, SendResult, SendState};
use nightdesk_gate::bot_reach::ScopedAgent;
use nightdesk_gate::{
    AdmittedSend, BotMessage, BotPrompt, Reach, ReachChange, RefusalNote, StoredRefusal,
};
use nightdesk_inbox::{
    AcceptRequest, AckOutcome, AckRequest, EntryDetails, InboxOverview, LineClaim, LocalEntry,
    ParkOutcome, ParkReason, PutOutcome, QuarantinedEvent, ReadRequest, ReadResponse, SourceCursor,
    StoppedChat, SweepReport,
};
use nightdesk_lease::Owner;
use nightdesk_line::{CloseRecord, HeldLine, LineRequest, LineStart};
use nightdesk_media::{MediaId, MediaRecord};
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::{AgentId, BotId, Node, NodeEpoch, Seq, TenantScope, Timestamp};

use super::through;

through! { nightdesk_inbox::Store {
    fn accept(events: &[AcceptRequest]) -> Vec<PutOutcome>;
    fn read_waiting(asks: &[ReadRequest]) -> Vec<ReadResponse>;
    fn ack(acks: &[AckRequest]) -> Vec<AckOutcome>;
    fn park(line: &LineClaim, seq: Seq, reason: ParkReason) -> ParkOutcome;
    fn read_heads(agents: &[(TenantScope, AgentId)]) -> Vec<Seq>;
    fn take_source(operator: TenantScope, bot: BotId, source: &str) -> (NodeEpoch, Option<String>);
    fn move_cursor(operator: TenantScope, bot: BotId, mark: &SourceCursor) -> bool;
    fn quarantine(unreadable: &QuarantinedEvent) -> ();
}}

through! { nightdesk_inbox::InboxAdmin {
    fn overview(scope: TenantScope, agent: AgentId, after: Seq) -> Option<InboxOverview>;
    fn show_entry(scope: TenantScope, agent: AgentId, seq: Seq) -> Option<EntryDetails>;
    fn park_waiting(scope: TenantScope, agent: AgentId, seq: Seq) -> bool;
    fn park_chat(scope: TenantScope, agent: AgentId, chat: StoppedChat<'_>) -> usize;
    fn resubmit(scope: TenantScope, agent: AgentId, seq: Seq) -> Option<Seq>;
    fn drop_parked(scope: TenantScope, agent: AgentId, seq: Seq) -> bool;
    fn put_local(scope: TenantScope, agent: AgentId, entry: &LocalEntry) -> Option<Seq>;
}}

through! { nightdesk_inbox::InboxSweeper {
    fn sweep() -> SweepReport;
}}

through! { nightdesk_line::Store {
    fn take(line: LineRequest<'_>) -> LineStart;
    fn find_held_line(scope: TenantScope, agent: AgentId) -> Option<HeldLine>;
    fn tell_sessions(line: &LineClaim, sessions: &SessionNames) -> ();
    fn close(line: &LineClaim, end: CloseRecord) -> ();
}}

through! { nightdesk_gate::Store {
    fn read_changes(bot: BotId, since: Option<i64>) -> ReachChange;
    fn changed_bots(bots: &[(BotId, i64)]) -> Vec<BotId>;
    fn find_reaches(scope: TenantScope, agent: AgentId, chat: &str) -> Vec<Reach>;
    fn takes_part(scope: TenantScope, agent: AgentId, bot: BotId, chat: &str) -> bool;
    fn record_prompt(scope: TenantScope, agent: AgentId, prompt: BotPrompt<'_>) -> bool;
    fn find_prompt_agent(prompt: BotPrompt<'_>) -> Option<ScopedAgent>;
    fn find_message_sender(message: &BotMessage) -> Option<ScopedAgent>;
    fn read_refusals(scope: TenantScope, event_key: &str) -> Vec<StoredRefusal>;
    fn note_refusals(notes: &[RefusalNote]) -> ();
}}

through! { nightdesk_media::Store {
    fn permit_read(scope: TenantScope, agent: AgentId, files: &[(MediaId, MediaRecord)], good_for: Duration) -> ();
    fn find_record(scope: TenantScope, agent: AgentId, id: MediaId) -> Option<MediaRecord>;
}}

through! { nightdesk_egress::Store {
    fn record_request(send: &AdmittedSend, asked_on: &str) -> SendState;
    fn send_state(send: &SendKey) -> Option<SendState>;
    fn claim(send: &SendKey, owner: &Owner) -> bool;
    fn settle(send: &SendKey, node: &Node, settled: &SendResult) -> bool;
    fn retract(send: &SendKey, node: &Node, why: &SendResult) -> bool;
    fn waiting_sends(node: &Node, sends_max: usize) -> Vec<nightdesk_egress::WaitingSend>;
    fn ownerless_bots(bots_max: usize) -> Vec<BotId>;
    fn abandon_sends(sends_max: usize) -> Vec<AbandonedSend>;
}}

through! { nightdesk_egress::PastSends {
    fn read_past_sends(scope: TenantScope, agent: AgentId, place: SendPlace<'_>, since: Timestamp) -> Vec<PastSend>;
}}
