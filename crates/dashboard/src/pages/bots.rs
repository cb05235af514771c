//! `/t/{tenant}/bots`: the bots of a tenant, the state of each, and what can be done with it.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{BotAudience, BotCheck, BotKeyRequest, BotView, SecretText};
use nightdesk_pages::render_page;
use nightdesk_types::limits::BOT_KEY_OVERLAP_MAX;
use nightdesk_users::Right;
use serde::Deserialize;
use serde_json::Value;

use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::confirm::{ConfirmForm, Confirmation};
use crate::layout::{Layout, Section, encode};
use crate::notice::Notice;
use crate::place::TenantPlace;
use crate::refusal::{Refusal, bad_form};
use crate::session::OwnForm;
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    const BOT: &str = "/t/{tenant}/bots/{bot}";
    Router::new()
        .route("/t/{tenant}/bots", get(list))
        .route(BOT, get(show))
        .route(&format!("{BOT}/key"), post(replace_key))
        .route(&format!("{BOT}/share"), post(share))
        .route(&format!("{BOT}/remove"), get(confirm_remove).post(remove))
}

#[derive(Template)]
#[template(path = "bots.html")]
struct BotsPage {
    layout: Layout,
    clock: PageClock,
    path: String,
    bots: Vec<BotView>,
    may_manage: bool,
}

async fn list(State(desk): State<Dashboard>, place: TenantPlace) -> Result<Response, Refusal> {
    Ok(render_page(&BotsPage {
        layout: place.layout(Section::Bots),
        clock: desk.page_clock(),
        path: place.path(),
        bots: desk.office().bots(place.scope).await?,
        may_manage: place.allows(Right::Manage),
    }))
}

#[derive(Template)]
#[template(path = "bot.html")]
struct BotPage {
    layout: Layout,
    clock: PageClock,
    path: String,
    tenant_path: String,
    check: BotCheck,
    /// The platform's answer, by name.
    says: Vec<(String, String)>,
    may_manage: bool,
}

/// The bot of a path.
#[derive(Deserialize)]
struct BotPath {
    bot: String,
}

fn bot_path(place: &TenantPlace, bot: &str) -> String {
    format!("{}/bots/{}", place.path(), encode(bot))
}

async fn show(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(BotPath { bot }): Path<BotPath>,
) -> Result<Response, Refusal> {
    let check = desk.office().check_bot(place.scope, &bot).await?;
    let says = check.platform_says.as_ref().map(platform_words).unwrap_or_default();
    Ok(render_page(&BotPage {
        layout: place.layout(Section::Bots),
        clock: desk.page_clock(),
        path: bot_path(&place, &bot),
        tenant_path: place.path(),
        check,
        says,
        may_manage: place.allows(Right::Manage),
    }))
}

/// Returns the platform's answer as names and values.
fn platform_words(says: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    let pairs = says.as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.replace('_', " "), word(value))).collect()
}

#[derive(Deserialize)]
struct KeyForm {
    key: SecretText,
}

async fn replace_key(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(BotPath { bot }): Path<BotPath>,
    OwnForm(KeyForm { key }): OwnForm<KeyForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let request = BotKeyRequest { key, overlap_secs: BOT_KEY_OVERLAP_MAX.as_secs() };
    desk.office().rotate_bot_key(scope, &bot, request).await?;
    Ok(Notice::BotKeyReplaced.redirect(&bot_path(&place, &bot)))
}

/// The tenants that may use a bot.
#[derive(Deserialize)]
struct ShareForm {
    audience: String,
}

async fn share(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(BotPath { bot }): Path<BotPath>,
    OwnForm(form): OwnForm<ShareForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let (audience, notice) = match form.audience.as_str() {
        "all" => (BotAudience::AllTenants, Notice::BotShared),
        "own" => (BotAudience::OwnTenant, Notice::BotUnshared),
        _ => return Err(bad_form()),
    };
    desk.office().share_bot(scope, &bot, audience).await?;
    Ok(notice.redirect(&bot_path(&place, &bot)))
}

async fn confirm_remove(
    place: TenantPlace,
    Path(BotPath { bot }): Path<BotPath>,
) -> Result<Response, Refusal> {
    place.scope_for(Right::Manage)?;
    let page = bot_path(&place, &bot);
    let confirmation = Confirmation {
        layout: place.layout(Section::Bots),
        title: "Remove the bot?".to_owned(),
        text: "Its key, its links and its grants are removed, and no person reaches an agent through it any more. \
               This cannot be undone."
            .to_owned(),
        action: format!("{page}/remove"),
        confirm: bot,
        button: "Remove it",
        back: page,
    };
    Ok(confirmation.into_response())
}

async fn remove(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(BotPath { bot }): Path<BotPath>,
    OwnForm(form): OwnForm<ConfirmForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    if form.confirm != bot {
        return Err(bad_form());
    }
    desk.office().remove_bot(scope, &bot).await?;
    Ok(Notice::BotRemoved.redirect(&format!("{}/bots", place.path())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_platforms_answer_is_read_by_people() {
        let says = json!({ "hears_all": false, "username": "owl", "webhook": null, "waiting": 3 });
        let words = platform_words(&says);

        let want = [("hears all", "no"), ("username", "owl"), ("waiting", "3"), ("webhook", "–")];
        let mut sorted = words;
        sorted.sort();
        assert_eq!(sorted, want.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(platform_words(&Value::Null), []);
    }
}
