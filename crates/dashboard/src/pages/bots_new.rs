//! `/t/{tenant}/bots/new`: connects a bot step by step: the platform, its token, the result.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{BotConnectRequest, NewBotRequest, SecretText};
use nightdesk_pages::render_page;
use nightdesk_users::Right;
use serde::Deserialize;
use serde_json::Map;

use crate::assets::ASSETS;
use crate::layout::{Layout, Section};
use crate::notice::Notice;
use crate::place::TenantPlace;
use crate::refusal::{Refusal, bad_form};
use crate::secret::{SecretPage, fact};
use crate::session::OwnForm;
use crate::state::Dashboard;

/// The adapter whose bots are pages of the desk.
const PAGE_ADAPTER: &str = "webchat";

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/bots/new", get(choose))
        .route("/t/{tenant}/bots/new/page", post(create_page))
        .route("/t/{tenant}/bots/new/{platform}", get(ask_token).post(connect))
}

/// The first step.
#[derive(Template)]
#[template(path = "bots_new.html")]
struct PlatformChoicePage {
    layout: Layout,
    path: String,
    platforms: Vec<String>,
    has_pages: bool,
}

async fn choose(State(desk): State<Dashboard>, place: TenantPlace) -> Result<Response, Refusal> {
    place.scope_for(Right::Manage)?;
    Ok(render_page(&PlatformChoicePage {
        layout: place.layout(Section::Bots),
        path: place.path(),
        platforms: desk.office().connectable_platforms().map(str::to_owned).collect(),
        has_pages: desk.office().has_pages(PAGE_ADAPTER),
    }))
}

/// The second step.
#[derive(Template)]
#[template(path = "bot_token.html")]
struct BotTokenPage {
    layout: Layout,
    path: String,
    platform: String,
    steps: &'static [&'static str],
}

/// The platform of a path.
#[derive(Deserialize)]
struct PlatformPath {
    platform: String,
}

/// Returns the steps by which a person gets a token.
fn token_steps(platform: &str) -> &'static [&'static str] {
    match platform {
        "telegram" => &[
            "Open Telegram and write to @BotFather.",
            "Send /newbot, and choose a name and a user name that ends with “bot”.",
            "Copy the token from the answer. It looks like 123456:ABC-DEF.",
            "If the bot shall hear every message in groups, send /setprivacy and choose Disable.",
        ],
        "discord" => &[
            "Open discord.com/developers/applications and make a new application.",
            "Under Bot, press Reset Token, and copy the token.",
            "Under Bot, switch on Message TextAccess Intent and Server Members Intent.",
            "Under OAuth2, make a link with the scopes bot and applications.commands, and open it to add the bot to your server.",
        ],
        _ => &["Make a bot account on the platform, and copy its token."],
    }
}

async fn ask_token(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(PlatformPath { platform }): Path<PlatformPath>,
) -> Result<Response, Refusal> {
    place.scope_for(Right::Manage)?;
    if !desk.office().connectable_platforms().any(|known| known == platform) {
        return Err(bad_form());
    }
    Ok(render_page(&BotTokenPage {
        layout: place.layout(Section::Bots),
        path: place.path(),
        steps: token_steps(&platform),
        platform,
    }))
}

#[derive(Deserialize)]
struct ConnectForm {
    key: SecretText,
    /// Present if the platform shall post its updates.
    webhook: Option<String>,
    #[serde(default)]
    test_chat: String,
}

async fn connect(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(PlatformPath { platform }): Path<PlatformPath>,
    OwnForm(form): OwnForm<ConnectForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let test_chat = Some(form.test_chat.trim().to_owned()).filter(|chat| !chat.is_empty());
    let request =
        BotConnectRequest { platform, key: form.key, webhook: form.webhook.is_some(), test_chat };
    let connected = desk.office().connect_bot(scope, request).await?;
    let bot = connected["bot_id"].as_str().unwrap_or_default();
    Ok(Notice::BotConnected.redirect(&format!("{}/bots/{bot}", place.path())))
}

/// A page of the desk as a bot.
#[derive(Deserialize)]
struct PageForm {
    handle: String,
    #[serde(default)]
    title: String,
}

async fn create_page(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<PageForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let mut settings = Map::new();
    if !form.title.trim().is_empty() {
        settings.insert("title".to_owned(), form.title.trim().into());
    }
    let request = NewBotRequest {
        platform: PAGE_ADAPTER.to_owned(),
        adapter: None,
        handle: form.handle.trim().to_owned(),
        key: None,
        settings,
    };
    let created = desk.office().create_bot(scope, request).await?;
    let page = SecretPage {
        layout: place.layout(Section::Bots),
        title: "The web page is open".to_owned(),
        text: "Any visitor with this address reaches the page; grants decide which agent answers.",
        facts: vec![fact("Address", created.url.unwrap_or_default())],
        back: format!("{}/bots/{}", place.path(), created.bot_id),
    };
    Ok(page.into_response())
}
