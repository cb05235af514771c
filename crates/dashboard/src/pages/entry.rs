//! `/t/{tenant}/agents/{agent}/entries/{seq}`: an entry, its course, and what can be done with it.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use nightdesk_office::{DropConfirmation, EntryTimeline, TextAccess};
use nightdesk_pages::render_page;
use nightdesk_types::Seq;
use nightdesk_users::{Access, Place, Right};
use serde::Deserialize;
use serde_json::Value;

use crate::assets::ASSETS;
use crate::chart::course_chart;
use crate::clock::PageClock;
use crate::confirm::{ConfirmForm, Confirmation};
use crate::layout::{Layout, Section};
use crate::live::{LiveFragment, LiveRequest};
use crate::notice::Notice;
use crate::place::{AgentPlace, agent_path, find_tenant};
use crate::refusal::{Refusal, rendered};
use crate::secret::{Fact, fact};
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    const PAGE: &str = "/t/{tenant}/agents/{agent}/entries/{seq}";
    Router::new()
        .route("/t/{tenant}/agents/{agent}/entries/latest", get(show_latest))
        .route(PAGE, get(show))
        .route(&format!("{PAGE}/live"), get(live))
        .route(&format!("{PAGE}/resubmit"), post(resubmit))
        .route(&format!("{PAGE}/park"), post(park))
        .route(&format!("{PAGE}/drop"), get(confirm_drop).post(drop_entry))
}

#[derive(Deserialize)]
struct EntryPath {
    seq: i64,
}

#[derive(Template)]
#[template(path = "entry.html")]
struct EntryPage {
    layout: Layout,
    agent: String,
    agent_path: String,
    seq: i64,
    fragment: String,
    /// The text of the message, if the user may read it.
    message: Option<String>,
    may_read: bool,
    source: Vec<Fact>,
}

/// The part that changes: the state, the course and the actions.
#[derive(Template)]
#[template(path = "entry_live.html")]
struct EntryRows {
    clock: PageClock,
    path: String,
    agent_path: String,
    state: String,
    timeline: EntryTimeline,
    course: String,
    is_parked: bool,
    is_waiting: bool,
    resubmitted_as: Option<i64>,
    may_work: bool,
}

struct EntryFragment {
    tenant: String,
    agent: String,
    seq: Seq,
}

impl EntryFragment {
    fn new(place: &AgentPlace, seq: i64) -> Self {
        let (tenant, agent) = (place.in_tenant.tenant.clone(), place.called.clone());
        Self { tenant, agent, seq: Seq::new(seq) }
    }
}

impl LiveFragment for EntryFragment {
    async fn render(&self, desk: &Dashboard, access: &Access) -> Result<String, Refusal> {
        let scope = find_tenant(desk, access, &self.tenant).await?;
        let agent = desk.office().agent(scope, &self.agent).await?;
        let entry = desk.office().entry(scope, agent, self.seq, TextAccess::Hidden).await?;
        let timeline = desk.office().entry_timeline(scope, agent, self.seq, desk.now()).await?;
        let agent_path = agent_path(&self.tenant, &self.agent);
        let state = entry["state"].as_str().unwrap_or_default().to_owned();
        let resubmitted_as = entry["resubmitted_as"].as_i64();
        rendered(&EntryRows {
            clock: desk.page_clock(),
            path: format!("{agent_path}/entries/{}", self.seq),
            agent_path,
            course: course_chart(&timeline.steps),
            timeline,
            is_parked: state == "parked" && resubmitted_as.is_none(),
            is_waiting: state == "waiting",
            state,
            resubmitted_as,
            may_work: access.allows(Place::Tenant(scope.tenant()), Right::Work),
        })
    }
}

async fn show(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(EntryPath { seq }): Path<EntryPath>,
) -> Result<Response, Refusal> {
    let may_read = place.in_tenant.allows(Right::ReadMessages);
    let content = if may_read { TextAccess::Shown } else { TextAccess::Hidden };
    let entry =
        desk.office().entry(place.in_tenant.scope, place.agent, Seq::new(seq), content).await?;
    let fragment = EntryFragment::new(&place, seq);
    Ok(render_page(&EntryPage {
        layout: place.in_tenant.layout(Section::Tenant),
        agent: place.called.clone(),
        agent_path: place.path(),
        seq,
        fragment: fragment.render(&desk, &place.in_tenant.access).await?,
        message: message_text(&entry["body"]),
        may_read,
        source: source_facts(&entry),
    }))
}

/// Returns the text of a message.
fn message_text(body: &Value) -> Option<String> {
    let event = &body["event"];
    let text = [&event["text"], &event["message"]["text"]].into_iter().find_map(Value::as_str)?;
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// Returns the facts about the source of an entry, without its text.
fn source_facts(entry: &Value) -> Vec<Fact> {
    const NAMES: [(&str, &str); 6] = [
        ("platform", "Platform"),
        ("user_id", "Author"),
        ("user_name", "Name of the author"),
        ("chat_id", "Chat"),
        ("chat_name", "Name of the chat"),
        ("scope_id", "Server"),
    ];
    let source = &entry["source"];
    let known = NAMES.into_iter().filter_map(|(key, name)| Some(fact(name, source[key].as_str()?)));
    let bot = entry["bot_id"].as_str().map(|bot| fact("Bot", bot));
    let origin = entry["resubmitted_from"].as_i64();
    let origin = origin.map(|seq| fact("Delivered again from entry", seq.to_string()));
    known.chain(bot).chain(origin).collect()
}

/// Leads to the entry with the highest number.
async fn show_latest(
    State(desk): State<Dashboard>,
    place: AgentPlace,
) -> Result<Response, Refusal> {
    let inbox = desk.office().inbox(place.in_tenant.scope, place.agent, Seq::default()).await?;
    let page = place.path();
    let to = if inbox.head == 0 { page } else { format!("{page}/entries/{}", inbox.head) };
    Ok(Redirect::to(&to).into_response())
}

async fn live(
    request: LiveRequest,
    place: AgentPlace,
    Path(EntryPath { seq }): Path<EntryPath>,
) -> Response {
    request.stream(EntryFragment::new(&place, seq))
}

async fn resubmit(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(EntryPath { seq }): Path<EntryPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Work)?;
    let again = desk.office().resubmit_entry(scope, place.agent, Seq::new(seq)).await?;
    Ok(Notice::Resubmitted.redirect(&format!("{}/entries/{}", place.path(), again.seq)))
}

async fn park(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(EntryPath { seq }): Path<EntryPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Work)?;
    desk.office().park_entry(scope, place.agent, Seq::new(seq)).await?;
    Ok(Notice::Parked.redirect(&format!("{}/entries/{seq}", place.path())))
}

async fn confirm_drop(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(EntryPath { seq }): Path<EntryPath>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Work)?;
    desk.office().entry(scope, place.agent, Seq::new(seq), TextAccess::Hidden).await?;
    let page = format!("{}/entries/{seq}", place.path());
    let confirmation = Confirmation {
        layout: place.in_tenant.layout(Section::Tenant),
        title: format!("Drop entry {seq} of {}?", place.called),
        text: "The message is removed for good and reaches no agent. This cannot be undone."
            .to_owned(),
        action: format!("{page}/drop"),
        confirm: seq.to_string(),
        button: "Drop it",
        back: page,
    };
    Ok(confirmation.into_response())
}

async fn drop_entry(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(EntryPath { seq }): Path<EntryPath>,
    OwnForm(form): OwnForm<ConfirmForm>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Work)?;
    let confirmation = DropConfirmation { confirm: form.confirm };
    desk.office().drop_entry(scope, place.agent, Seq::new(seq), &confirmation).await?;
    Ok(Notice::Dropped.redirect(&place.path()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_has_its_text_and_its_source() {
        let entry = json!({
            "bot_id": "b1", "source": { "user_id": "u1", "chat_id": "c1", "is_bot": false },
            "body": { "event": { "text": "hello" } },
        });
        let facts: Vec<_> =
            source_facts(&entry).into_iter().map(|fact| (fact.name, fact.value)).collect();

        assert_eq!(message_text(&entry["body"]).as_deref(), Some("hello"));
        assert_eq!(message_text(&Value::Null), None);
        let want = [("Author", "u1"), ("Chat", "c1"), ("Bot", "b1")];
        assert_eq!(facts, want.map(|(name, value)| (name, value.to_owned())));
    }
}
