//! `/t/{tenant}/letters`: the letters of an agent, the webhooks by which programs send letters, and the grants between
//! tenants.

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_letters::Party;
use nightdesk_office::{
    LetterGrantView, LetterHookView, LetterView, NewLetterRequest, PeerSelector, ReceivedLetterView,
};
use nightdesk_pages::render_page;
use nightdesk_types::LetterId;
use nightdesk_types::limits::{LETTER_ROWS_SHOWN_MAX, LETTERS_PAGE_MAX};
use nightdesk_users::Right;
use serde::Deserialize;

use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::confirm::{ConfirmForm, Confirmation};
use crate::layout::{Layout, Section, encode};
use crate::notice::Notice;
use crate::place::TenantPlace;
use crate::refusal::{Refusal, bad_form};
use crate::secret::{SecretPage, fact};
use crate::session::OwnForm;
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/letters", get(show))
        .route("/t/{tenant}/letters/send", post(send))
        .route("/t/{tenant}/letters/hooks", post(create_hook))
        .route("/t/{tenant}/letters/hooks/{hook}/remove", get(confirm_remove).post(remove_hook))
        .route("/t/{tenant}/letters/grant", post(grant))
        .route("/t/{tenant}/letters/withdraw", post(withdraw))
}

#[derive(Template)]
#[template(path = "letters.html")]
struct LettersPage {
    layout: Layout,
    clock: PageClock,
    path: String,
    /// The agent whose letters are listed.
    agent: String,
    sent: Vec<LetterView>,
    next: Option<String>,
    received: Vec<ReceivedLetterView>,
    hooks: ShownRows<LetterHookView>,
    grants: ShownRows<LetterGrantView>,
    may_work: bool,
    may_manage: bool,
}

/// The rows that the page shows.
struct ShownRows<Row> {
    rows: Vec<Row>,
    /// True if there are more.
    is_more: bool,
}

impl<Row> ShownRows<Row> {
    /// Takes rows, of which at most one more than the page shows was read.
    fn new(mut rows: Vec<Row>) -> Self {
        let is_more = rows.len() > LETTER_ROWS_SHOWN_MAX;
        rows.truncate(LETTER_ROWS_SHOWN_MAX);
        Self { rows, is_more }
    }
}

/// The query of the page.
#[derive(Deserialize)]
struct LettersQuery {
    #[serde(default)]
    agent: String,
    before: Option<LetterId>,
}

fn letters_path(place: &TenantPlace) -> String {
    format!("{}/letters", place.path())
}

/// The letters of one agent.
#[derive(Default)]
struct AgentLetters {
    sent: Vec<LetterView>,
    next: Option<String>,
    received: Vec<ReceivedLetterView>,
}

async fn letters_of(
    desk: &Dashboard,
    place: &TenantPlace,
    query: &LettersQuery,
) -> Result<AgentLetters, Refusal> {
    if query.agent.is_empty() {
        return Ok(AgentLetters::default());
    }
    let agent = desk.office().agent(place.scope, &query.agent).await?;
    let party = Party { scope: place.scope, agent };
    let sent = desk.office().letters(&place.access, party, query.before).await?;
    let last = sent.last().filter(|_| sent.len() >= LETTERS_PAGE_MAX);
    let (page, of) = (letters_path(place), encode(&query.agent));
    let next = last.map(|letter| format!("{page}?agent={of}&before={}", letter.letter_id));
    let received = desk.office().received_letters(place.scope, agent).await?;
    Ok(AgentLetters { sent, next, received })
}

async fn show(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Query(query): Query<LettersQuery>,
) -> Result<Response, Refusal> {
    let query = LettersQuery { agent: query.agent.trim().to_owned(), ..query };
    let AgentLetters { sent, next, received } = letters_of(&desk, &place, &query).await?;
    let hooks = desk.office().letter_hooks(place.scope, LETTER_ROWS_SHOWN_MAX + 1).await?;
    let grants = desk.office().letter_grants(place.scope, LETTER_ROWS_SHOWN_MAX + 1).await?;
    Ok(render_page(&LettersPage {
        layout: place.layout(Section::Letters),
        clock: desk.page_clock(),
        path: letters_path(&place),
        agent: query.agent,
        sent,
        next,
        received,
        hooks: ShownRows::new(hooks),
        grants: ShownRows::new(grants),
        may_work: place.allows(Right::Work),
        may_manage: place.allows(Right::Manage),
    }))
}

/// A letter in the name of an agent.
#[derive(Deserialize)]
struct LetterForm {
    from: String,
    to: String,
    text: String,
}

async fn send(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<LetterForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Work)?;
    let from = form.from.trim();
    let party = Party { scope, agent: desk.office().agent(scope, from).await? };
    let request = NewLetterRequest {
        to: form.to.trim().to_owned(),
        text: form.text,
        wait_secs: None,
        dispatch_id: None,
    };
    desk.office().send_letter(&place.access, party, request).await?;
    let page = format!("{}?agent={}", letters_path(&place), encode(from));
    Ok(Notice::LetterSent.redirect(&page))
}

/// A webhook of an agent.
#[derive(Deserialize)]
struct HookForm {
    agent: String,
    name: String,
}

async fn create_hook(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<HookForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let party = Party { scope, agent: desk.office().agent(scope, form.agent.trim()).await? };
    let hook = desk.office().create_letter_hook(party, form.name.trim()).await?;
    let page = SecretPage {
        layout: place.layout(Section::Letters),
        title: format!("The webhook {}", hook.name),
        text: "A program sends letters as the agent to this address. The secret is shown only here.",
        facts: vec![
            fact("Letters", hook.url),
            fact("Wakes", hook.wake_url),
            fact("Status", hook.status_url),
            fact("Secret", hook.secret),
        ],
        back: letters_path(&place),
    };
    Ok(page.into_response())
}

/// The webhook of a path.
#[derive(Deserialize)]
struct HookPath {
    hook: String,
}

async fn confirm_remove(
    place: TenantPlace,
    Path(HookPath { hook }): Path<HookPath>,
) -> Result<Response, Refusal> {
    place.scope_for(Right::Manage)?;
    let page = letters_path(&place);
    let confirmation = Confirmation {
        layout: place.layout(Section::Letters),
        title: format!("Remove the webhook {hook}?"),
        text: "Its secret sends no letters any more. This cannot be undone.".to_owned(),
        action: format!("{page}/hooks/{}/remove", encode(&hook)),
        confirm: hook,
        button: "Remove it",
        back: page,
    };
    Ok(confirmation.into_response())
}

async fn remove_hook(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(HookPath { hook }): Path<HookPath>,
    OwnForm(form): OwnForm<ConfirmForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    if form.confirm != hook {
        return Err(bad_form());
    }
    desk.office().remove_letter_hook(scope, &hook).await?;
    Ok(Notice::HookRemoved.redirect(&letters_path(&place)))
}

/// An agent of the tenant, and an agent of another tenant.
#[derive(Deserialize)]
struct LetterGrantForm {
    agent: String,
    peer_tenant: String,
    peer_agent: String,
}

impl LetterGrantForm {
    async fn parties(
        &self,
        desk: &Dashboard,
        place: &TenantPlace,
    ) -> Result<(Party, PeerSelector), Refusal> {
        let scope = place.scope_for(Right::Manage)?;
        let own = Party { scope, agent: desk.office().agent(scope, self.agent.trim()).await? };
        let peer = PeerSelector {
            tenant: self.peer_tenant.trim().to_owned(),
            agent: self.peer_agent.trim().to_owned(),
        };
        Ok((own, peer))
    }
}

async fn grant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<LetterGrantForm>,
) -> Result<Response, Refusal> {
    let (own, peer) = form.parties(&desk, &place).await?;
    desk.office().grant_letters(&place.access, own, &peer).await?;
    Ok(Notice::LettersGranted.redirect(&letters_path(&place)))
}

async fn withdraw(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<LetterGrantForm>,
) -> Result<Response, Refusal> {
    let (own, peer) = form.parties(&desk, &place).await?;
    desk.office().withdraw_letters(&place.access, own, &peer).await?;
    Ok(Notice::LettersWithdrawn.redirect(&letters_path(&place)))
}
