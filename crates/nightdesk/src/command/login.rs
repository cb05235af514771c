//! `nightdesk login`, `logout`, `whoami` and `admin link`: how a person and a program get their token.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use nightdesk_types::limits::DATABASE_START_WAIT;
use nightdesk_types::{Actor, UserId};
use nightdesk_users::{ListedUser, NewUser, Role, UserSelection, Users, is_user_name};
use serde_json::json;
use tokio::time::Instant;

use crate::config::Config;
use crate::config::secret_file::password;
use crate::credentials::{Credentials, DeskLogin, default_file};
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::{self, CommandOutput};
use crate::wiring;

/// The desk that a command calls.
#[derive(Clone, Debug, Args)]
pub(crate) struct DeskArgs {
    /// The URL of the desk. Without it, the desk of the last login.
    #[arg(long, global = true, env = "NIGHTDESK_DESK", value_name = "URL")]
    pub(crate) desk: Option<String>,
    /// The file with an API token. Without it, the token of the last login.
    #[arg(long, global = true, env = "NIGHTDESK_TOKEN_FILE", value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

impl DeskArgs {
    /// Opens the client of the desk, with the user's token.
    pub(crate) fn client(&self) -> anyhow::Result<DeskClient> {
        let given = password(self.token_file.as_deref())?;
        let credentials = match &given {
            Some(_) if self.desk.is_some() => Credentials::default(),
            _ => Credentials::read(&default_file()?)?,
        };
        let (desk, stored) = credentials.find(self.desk.as_deref())?;
        let token = match &given {
            Some(given) => Some(given.as_str().to_owned()),
            None => stored,
        };
        DeskClient::open(&desk, token.as_deref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// A login link, of `nightdesk admin link` or of an administrator.
    #[arg(long, value_name = "LINK", conflicts_with = "token_stdin")]
    link: Option<String>,
    /// Read an API token from stdin.
    #[arg(long)]
    token_stdin: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminSubcommand {
    /// Print a link that logs an operator in, once, within fifteen minutes. The command opens the database, so it needs
    /// no login.
    #[command(after_help = "Example:\n  nightdesk admin link --config desk.toml")]
    Link {
        /// The operator's name. If there is none of that name, one is created.
        #[arg(long, default_value = "Administrator")]
        name: String,
    },
}

/// Logs in, and stores the token for later commands.
pub(super) async fn login(desk: &DeskArgs, args: LoginArgs) -> anyhow::Result<CommandOutput> {
    let (url, token) = match &args.link {
        Some(link) => redeem(desk, link).await?,
        None => (desk_url(desk)?, read_token(desk, args.token_stdin)?),
    };
    let client = DeskClient::open(&url, Some(&token))?;
    let me = client.call(ApiRequest::get(&["me"])).await?;
    let file = default_file()?;
    let mut credentials = Credentials::read(&file)?;
    credentials.add(DeskLogin { desk: url.clone(), token });
    credentials.write(&file)?;
    Ok(CommandOutput::One(json!({ "desk": url, "name": me["name"], "user_id": me["user_id"] })))
}

fn desk_url(desk: &DeskArgs) -> anyhow::Result<String> {
    let named = desk.desk.as_deref().map(|desk| desk.trim_end_matches('/').to_owned());
    named.context("name the desk with --desk URL, or use a login link with --link")
}

/// Exchanges the code of a login link for a token.
async fn redeem(desk: &DeskArgs, link: &str) -> anyhow::Result<(String, String)> {
    let (page, code) =
        link.split_once("/login?code=").context("the link is no login link of a desk")?;
    // The link has the desk's public address; a machine behind it may reach the desk at another one.
    let url = desk.desk.as_deref().unwrap_or(page).trim_end_matches('/').to_owned();
    let request = ApiRequest::post(&["login", "link"]).with_body(json!({ "code": code }));
    let created = DeskClient::open(&url, None)?.call(request).await;
    let created = created
        .context("the link is unknown, used or older than fifteen minutes; make a new one")?;
    let token = created["token"].as_str().context("the answer of the desk has no token")?;
    Ok((url, token.to_owned()))
}

fn read_token(desk: &DeskArgs, from_stdin: bool) -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    if !from_stdin {
        ensure!(
            stdin.is_terminal(),
            "pass a token with --token-stdin, or a login link with --link"
        );
        let url = desk_url(desk)?;
        ui::print_text(&format!("Open {url}/tokens, create a token, and paste it here:"));
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line).context("could not read the token")?;
    let token = line.trim();
    ensure!(!token.is_empty(), "no token was entered");
    Ok(token.to_owned())
}

/// Revokes the token of the last login, and forgets it.
pub(super) async fn logout(desk: &DeskArgs) -> anyhow::Result<CommandOutput> {
    let file = default_file()?;
    let mut credentials = Credentials::read(&file)?;
    let (url, token) = credentials.find(desk.desk.as_deref())?;
    let Some(token) = token else { bail!("there is no login at {url}") };
    let client = DeskClient::open(&url, Some(&token))?;
    let revoked = client.call(ApiRequest::delete(&["tokens", "this"])).await.is_ok();
    credentials.remove(&url);
    credentials.write(&file)?;
    Ok(CommandOutput::One(json!({ "desk": url, "revoked": revoked })))
}

/// Shows the user and the token.
pub(super) async fn whoami(desk: &DeskArgs) -> anyhow::Result<CommandOutput> {
    Ok(CommandOutput::One(desk.client()?.call(ApiRequest::get(&["me"])).await?))
}

/// Prints a link that logs an operator in.
pub(super) async fn admin_link(config: &Config, name: &str) -> anyhow::Result<CommandOutput> {
    ensure!(is_user_name(name), "--name must have 1 to 200 bytes on one line");
    let pg = Arc::new(wiring::connect(config, config.vault().await?)?);
    let (users, public_url) = (Users::new(pg), config.public_url());
    let give_up_at = Some(Instant::now() + DATABASE_START_WAIT);
    let create = || create_operator_link(&users, name, &public_url);
    let OperatorLink { user, url } = wiring::retry_while_unavailable(give_up_at, create).await?;
    Ok(CommandOutput::Told {
        data: json!({ "url": url, "user_id": user, "name": name }),
        text: url,
    })
}

/// A link that logs an operator in, once.
pub(super) struct OperatorLink {
    pub(super) user: UserId,
    pub(super) url: String,
}

/// Makes a link for the operator of this name. If there is none, one is created.
pub(super) async fn create_operator_link(
    users: &Users,
    name: &str,
    public_url: &str,
) -> anyhow::Result<OperatorLink> {
    let user = if let Some(user) = find_operator(users, name).await? {
        user
    } else {
        let new = NewUser { name: name.to_owned(), email: None, roles: vec![Role::Operator] };
        users.store().create_user(Actor::Operator, &new).await?
    };
    let code = users.create_link(Actor::Operator, user).await?.context("the user was removed")?;
    let url = code.with(|code| format!("{public_url}/login?code={code}"));
    Ok(OperatorLink { user, url })
}

async fn find_operator(users: &Users, name: &str) -> anyhow::Result<Option<UserId>> {
    let mut page = users.store().users(UserSelection::All, None).await?;
    while let Some(last) = page.last() {
        let after = last.id;
        let is_operator =
            |user: &ListedUser| user.roles.iter().any(|(role, _)| *role == Role::Operator);
        let found = page.iter().find(|user| user.name == name && is_operator(user));
        if let Some(user) = found {
            return Ok(Some(user.id));
        }
        page = users.store().users(UserSelection::All, Some(after)).await?;
    }
    Ok(None)
}
