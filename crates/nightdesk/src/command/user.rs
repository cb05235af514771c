//! Commands about users, their API tokens, and broken glass.

use clap::Subcommand;
use serde_json::{Value, json};

use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// The members of a user in a list.
const USER_COLUMNS: &[&str] =
    &["user_id", "name", "email", "issuer", "roles", "sessions", "created_at", "used_at"];

/// The members of a token in a list.
const TOKEN_COLUMNS: &[&str] = &[
    "token_id",
    "name",
    "rights",
    "tenant_id",
    "created_at",
    "expires_at",
    "used_at",
    "revoked_at",
];

/// The members of a request to read messages in a list.
const GLASS_COLUMNS: &[&str] = &[
    "request_id",
    "tenant_id",
    "state",
    "asked_by",
    "asked_at",
    "reason",
    "minutes",
    "approved_by",
    "open_until",
];

#[derive(Debug, Subcommand)]
pub(crate) enum UserSubcommand {
    /// List the users of the desk, or those of a tenant.
    #[command(after_help = "Example:\n  nightdesk user list --tenant acme")]
    List {
        /// The tenant, by name or id. Without it, all users.
        #[arg(long)]
        tenant: Option<String>,
        /// Begin after this user: the last one of the previous page.
        #[arg(long, default_value = "", value_name = "USER", hide_default_value = true)]
        after: String,
    },
    /// Create a user with a role. `nightdesk user link` then lets the user in.
    #[command(
        after_help = "Example:\n  nightdesk user create 'Ann Smith' --tenant acme --role admin --email ann@acme.example"
    )]
    Create {
        /// The user's name.
        name: String,
        /// `admin`, `member` or `auditor` of a tenant; `operator` or `auditor` of the desk.
        #[arg(long)]
        role: String,
        /// The tenant of the role, by name or id. Without it, the desk.
        #[arg(long)]
        tenant: Option<String>,
        /// The email address by which a login provider finds the user.
        #[arg(long)]
        email: Option<String>,
    },
    /// Give a user a role, or take it.
    #[command(after_help = "Example:\n  nightdesk user role 0193… member --tenant acme")]
    Role {
        /// The user's id.
        user: String,
        /// `admin`, `member` or `auditor` of a tenant; `operator` or `auditor` of the desk.
        role: String,
        /// The tenant of the role, by name or id. Without it, the desk.
        #[arg(long)]
        tenant: Option<String>,
        /// Take the role.
        #[arg(long)]
        take: bool,
    },
    /// Print a link that logs a user in, once, within fifteen minutes.
    #[command(after_help = "Example:\n  nightdesk user link 0193…")]
    Link {
        /// The user's id.
        user: String,
    },
    /// End every session of a user. Tokens stay valid.
    #[command(after_help = "Example:\n  nightdesk user logout 0193…")]
    Logout {
        /// The user's id.
        user: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenSubcommand {
    /// List your API tokens.
    #[command(after_help = "Example:\n  nightdesk token list")]
    List {
        /// Begin after this token: the last one of the previous page.
        #[arg(long, default_value = "", value_name = "TOKEN", hide_default_value = true)]
        after: String,
    },
    /// Create an API token with some of your rights, and show it once.
    #[command(
        after_help = "Example:\n  nightdesk token create backup --right read,audit --tenant acme --days 30"
    )]
    Create {
        /// The token's name, for lists.
        name: String,
        /// The rights: `read`, `messages`, `work`, `manage`, `users`, `audit`, `operate`.
        #[arg(long = "right", required = true, value_delimiter = ',', value_name = "RIGHT")]
        rights: Vec<String>,
        /// The only tenant that it reaches, by name or id. Without it, every tenant of yours.
        #[arg(long)]
        tenant: Option<String>,
        /// The days that it is valid, at most 366.
        #[arg(long, default_value_t = 90)]
        days: u32,
    },
    /// Revoke an API token of yours.
    #[command(after_help = "Example:\n  nightdesk token revoke 0193…")]
    Revoke {
        /// The token's id.
        token: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum GlassSubcommand {
    /// List the newest requests of operators to read messages.
    #[command(after_help = "Example:\n  nightdesk glass list --tenant acme")]
    List {
        /// The tenant, by name or id. Without it, all tenants.
        #[arg(long)]
        tenant: Option<String>,
    },
    /// Request to read the messages of a tenant. Another operator must approve it, and the tenant sees the reason.
    #[command(
        after_help = "Example:\n  nightdesk glass ask --tenant acme --reason 'ticket 7' --minutes 30"
    )]
    Ask {
        /// The tenant, by name or id.
        #[arg(long)]
        tenant: String,
        /// The reason.
        #[arg(long)]
        reason: String,
        /// The minutes for which the messages are to be read, at most 480.
        #[arg(long, default_value_t = 60)]
        minutes: u32,
    },
    /// Approve the request of another operator.
    #[command(after_help = "Example:\n  nightdesk glass approve 0193…")]
    Approve {
        /// The request's id.
        request: String,
    },
    /// End a request, or withdraw it.
    #[command(after_help = "Example:\n  nightdesk glass end 0193…")]
    End {
        /// The request's id.
        request: String,
    },
}

/// Runs a command about users.
pub(super) async fn run_user(
    desk: &DeskClient,
    command: UserSubcommand,
) -> anyhow::Result<CommandOutput> {
    match &command {
        UserSubcommand::List { tenant, after } => {
            let path = place_path(tenant.as_deref(), &["users"]);
            desk.list(ApiRequest::get(&path).with("after", after), USER_COLUMNS).await
        }
        UserSubcommand::Create { name, role, tenant, email } => {
            let body = json!({ "name": name, "role": role, "email": email });
            let path = place_path(tenant.as_deref(), &["users"]);
            Ok(CommandOutput::One(desk.call(ApiRequest::post(&path).with_body(body)).await?))
        }
        UserSubcommand::Role { user, role, tenant, take } => {
            let path = place_path(tenant.as_deref(), &["users", user, "roles", role]);
            let request = if *take { ApiRequest::delete(&path) } else { ApiRequest::put(&path) };
            Ok(CommandOutput::One(desk.call(request).await?))
        }
        UserSubcommand::Link { user } => {
            let data = desk.call(ApiRequest::post(&["users", user, "link"])).await?;
            let text = data["url"].as_str().unwrap_or_default().to_owned();
            Ok(CommandOutput::Told { data, text })
        }
        UserSubcommand::Logout { user } => {
            desk.call(ApiRequest::post(&["users", user, "logout"])).await?;
            Ok(CommandOutput::One(json!({ "user_id": user, "logged_out": true })))
        }
    }
}

/// Runs a command about the caller's tokens.
pub(super) async fn run_token(
    desk: &DeskClient,
    command: TokenSubcommand,
) -> anyhow::Result<CommandOutput> {
    match &command {
        TokenSubcommand::List { after } => {
            desk.list(ApiRequest::get(&["tokens"]).with("after", after), TOKEN_COLUMNS).await
        }
        TokenSubcommand::Create { name, rights, tenant, days } => {
            let body = json!({ "name": name, "rights": rights, "tenant": tenant, "days": days });
            let request = ApiRequest::post(&["tokens"]).with_body(body);
            Ok(CommandOutput::One(desk.call(request).await?))
        }
        TokenSubcommand::Revoke { token } => {
            desk.call(ApiRequest::delete(&["tokens", token])).await?;
            Ok(CommandOutput::One(json!({ "token_id": token, "revoked": true })))
        }
    }
}

/// Runs a command about requests to read messages.
pub(super) async fn run_glass(
    desk: &DeskClient,
    command: GlassSubcommand,
) -> anyhow::Result<CommandOutput> {
    let answer: Value = match &command {
        GlassSubcommand::List { tenant } => {
            let path = place_path(tenant.as_deref(), &["glass"]);
            return desk.list(ApiRequest::get(&path), GLASS_COLUMNS).await;
        }
        GlassSubcommand::Ask { tenant, reason, minutes } => {
            let body = json!({ "reason": reason, "minutes": minutes });
            desk.call(ApiRequest::post(&["tenants", tenant, "glass"]).with_body(body)).await?
        }
        GlassSubcommand::Approve { request } => {
            desk.call(ApiRequest::post(&["admin", "glass", request, "approve"])).await?
        }
        GlassSubcommand::End { request } => {
            desk.call(ApiRequest::delete(&["admin", "glass", request])).await?;
            json!({ "request_id": request, "ended": true })
        }
    };
    Ok(CommandOutput::One(answer))
}

/// Returns the path of a route of a tenant, or of the desk.
fn place_path<'a>(tenant: Option<&'a str>, rest: &[&'a str]) -> Vec<&'a str> {
    match tenant {
        Some(tenant) => [&["tenants", tenant][..], rest].concat(),
        None => [&["admin"][..], rest].concat(),
    }
}
