//! `/tokens`: the user, the user's roles, and the tokens of the user's programs.

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{NewTokenRequest, Office, TokenView, WhoAmI};
use nightdesk_pages::render_page;
use nightdesk_types::ApiTokenId;
use nightdesk_users::Right;
use serde::Deserialize;

use super::next_page;
use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::layout::{Layout, Section};
use crate::notice::Notice;
use crate::place::DeskPlace;
use crate::refusal::Refusal;
use crate::secret::{SecretPage, fact};
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/tokens", get(show).post(create))
        .route("/tokens/{token}/revoke", post(revoke))
}

#[derive(Template)]
#[template(path = "tokens.html")]
struct TokensPage {
    layout: Layout,
    clock: PageClock,
    me: WhoAmI,
    tokens: Vec<TokenView>,
    next: Option<String>,
    /// The sets of rights that the form offers.
    choices: Vec<TokenChoice>,
}

/// A set of rights of a token, from the smallest on.
struct TokenChoice {
    name: &'static str,
    rights: String,
}

/// Returns the sets of rights that the form offers: each contains the ones before.
fn token_choices() -> Vec<TokenChoice> {
    let named = [
        ("read the state", 1),
        ("also read messages", 2),
        ("also work on entries, wakes and jobs", 3),
        ("also manage agents, bots and skills", 4),
        ("every right of mine", Right::ALL.len()),
    ];
    let rights = |count| Right::ALL.into_iter().take(count).map(Right::slug).collect::<Vec<_>>();
    let choice = |(name, count)| TokenChoice { name, rights: rights(count).join(" ") };
    named.into_iter().map(choice).collect()
}

/// The query of the page.
#[derive(Deserialize)]
struct TokensQuery {
    after: Option<ApiTokenId>,
}

async fn show(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Query(query): Query<TokensQuery>,
) -> Result<Response, Refusal> {
    let tokens = desk.office().tokens(&place.access, query.after).await?;
    Ok(render_page(&TokensPage {
        layout: place.layout(Section::Tokens),
        clock: desk.page_clock(),
        me: Office::who_am_i(&place.access),
        next: next_page("/tokens", &tokens, |token| &token.token_id),
        tokens,
        choices: token_choices(),
    }))
}

/// A new token.
#[derive(Deserialize)]
struct TokenForm {
    name: String,
    /// The rights, separated by spaces.
    rights: String,
    #[serde(default)]
    tenant: String,
    days: u32,
}

async fn create(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    OwnForm(form): OwnForm<TokenForm>,
) -> Result<Response, Refusal> {
    let tenant = Some(form.tenant.trim().to_owned()).filter(|tenant| !tenant.is_empty());
    let rights = form.rights.split_whitespace().map(str::to_owned).collect();
    let request = NewTokenRequest { name: form.name, rights, tenant, days: Some(form.days) };
    let created = desk.office().create_token(&place.access, &request).await?;
    let page = SecretPage {
        layout: place.layout(Section::Tokens),
        title: "A token".to_owned(),
        text: "A program sends it as a bearer token. It is shown only here.",
        facts: vec![fact("Authorization", format!("Bearer {}", created.token))],
        back: "/tokens".to_owned(),
    };
    Ok(page.into_response())
}

/// The token of a path.
#[derive(Deserialize)]
struct TokenPath {
    token: ApiTokenId,
}

async fn revoke(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(TokenPath { token }): Path<TokenPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    desk.office().revoke_token(&place.access, token).await?;
    Ok(Notice::TokenRevoked.redirect("/tokens"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_set_of_rights_contains_the_smaller_ones() {
        let choices = token_choices();

        assert_eq!(choices[0].rights, "read");
        assert!(choices.windows(2).all(|two| two[1].rights.starts_with(&two[0].rights)));
        assert_eq!(choices[4].rights.split(' ').count(), Right::ALL.len());
    }
}
