//! Implements the ports of the stops: inbox, lines, gate, egress.

use std::time::Duration;

use nightdesk_egress::{Asked, GivenUp, Said, SendKey, Settled, Where};
use nightdesk_gate::known::Agent;
use nightdesk_gate::{AdmittedSend, Change, KeptRefusal, Prompt, Reach, RefusalNote};
use nightdesk_inbox::{
    Accept, Ack, AckOf, Ask, LineClaim, Overview, Park, ParkReason, Put, Quarantine, Shown,
    SourceMark, Stored, Swept, TestEntry, Waiting,
};
use nightdesk_lease::Owner;
use nightdesk_line::{Caller, End, Taken};
use nightdesk_media::{Kept, MediaId};
use nightdesk_types::{AgentId, BotId, Node, NodeEpoch, Seq, TenantScope, Timestamp};

use super::through;

through! { nightdesk_inbox::Store {
    fn accept(events: &[Accept]) -> Vec<Put>;
    fn waiting(asks: &[Ask]) -> Vec<Waiting>;
    fn ack(acks: &[AckOf]) -> Vec<Ack>;
    fn park(line: &LineClaim, seq: Seq, reason: ParkReason) -> Park;
    fn heads(agents: &[(TenantScope, AgentId)]) -> Vec<Seq>;
    fn take_source(operator: TenantScope, bot: BotId, source: &str) -> (NodeEpoch, Option<String>);
    fn move_cursor(operator: TenantScope, bot: BotId, mark: &SourceMark) -> bool;
    fn quarantine(unreadable: &Quarantine) -> ();
}}

through! { nightdesk_inbox::Aside {
    fn overview(scope: TenantScope, agent: AgentId, after: Seq) -> Option<Overview>;
    fn show(scope: TenantScope, agent: AgentId, seq: Seq) -> Option<Shown>;
    fn set_aside(scope: TenantScope, agent: AgentId, seq: Seq) -> bool;
    fn resubmit(scope: TenantScope, agent: AgentId, seq: Seq) -> Option<Stored>;
    fn put_test(scope: TenantScope, agent: AgentId, entry: &TestEntry) -> Option<Seq>;
}}

through! { nightdesk_inbox::Upkeep {
    fn keep() -> Swept;
}}

through! { nightdesk_line::Store {
    fn take(caller: &Caller, node: &Node) -> Taken;
    fn close(line: &LineClaim, end: End) -> ();
}}

through! { nightdesk_gate::Store {
    fn changes(bot: BotId, since: Option<i64>) -> Change;
    fn changed(bots: &[(BotId, i64)]) -> Vec<BotId>;
    fn reaches(scope: TenantScope, agent: AgentId, chat: &str) -> Vec<Reach>;
    fn takes_part(scope: TenantScope, agent: AgentId, bot: BotId, chat: &str) -> bool;
    fn ask(scope: TenantScope, agent: AgentId, prompt: Prompt<'_>) -> bool;
    fn asker(prompt: Prompt<'_>) -> Option<Agent>;
    fn refusals(scope: TenantScope, event_key: &str) -> Vec<KeptRefusal>;
    fn note_refusals(notes: &[RefusalNote]) -> ();
}}

through! { nightdesk_media::Store {
    fn keep(scope: TenantScope, agent: AgentId, files: &[(MediaId, Kept)], good_for: Duration) -> ();
    fn find(scope: TenantScope, agent: AgentId, id: MediaId) -> Option<Kept>;
}}

through! { nightdesk_egress::Store {
    fn ask(send: &AdmittedSend, asked_on: &str) -> Asked;
    fn look(send: &SendKey) -> Asked;
    fn claim(send: &SendKey, owner: &Owner) -> bool;
    fn settle(send: &SendKey, node: &Node, settled: &Settled) -> bool;
    fn retract(send: &SendKey, node: &Node, why: &Settled) -> bool;
    fn waiting(node: &Node, sends_max: usize) -> Vec<nightdesk_egress::Waiting>;
    fn ownerless(bots_max: usize) -> Vec<BotId>;
    fn give_up(sends_max: usize) -> Vec<GivenUp>;
}}

through! { nightdesk_egress::Sayings {
    fn said(scope: TenantScope, agent: AgentId, place: Where<'_>, since: Timestamp) -> Vec<Said>;
}}
