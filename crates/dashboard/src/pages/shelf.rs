//! `/t/{tenant}/shelf`: the skills of a tenant, their versions, and their approval.

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{SkillAuthority, SkillCheck, SkillRow};
use nightdesk_pages::render_page;
use nightdesk_shelf::{SkillFilter, SkillStatus};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::SKILLS_PAGE_MAX;
use nightdesk_users::Right;
use serde::Deserialize;

use super::NamePage;
use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::diff::{DiffLine, diff_lines};
use crate::layout::{Layout, Section, encode};
use crate::notice::Notice;
use crate::place::TenantPlace;
use crate::refusal::{Refusal, bad_form};
use crate::session::OwnForm;
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/shelf", get(list))
        .route("/t/{tenant}/shelf/{skill}", get(show))
        .route("/t/{tenant}/shelf/{skill}/status", post(set_status))
}

#[derive(Template)]
#[template(path = "shelf.html")]
struct ShelfPage {
    layout: Layout,
    path: String,
    tenant: String,
    skills: Vec<SkillRow>,
    next: Option<String>,
    authority: SkillAuthority,
}

async fn list(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Query(page): Query<NamePage>,
) -> Result<Response, Refusal> {
    let admin = desk.office().skills(place.scope).await?;
    let skills = admin.list(&SkillFilter::default(), &page.after).await?;
    let path = format!("{}/shelf", place.path());
    let last = skills.last().filter(|_| skills.len() >= SKILLS_PAGE_MAX);
    Ok(render_page(&ShelfPage {
        layout: place.layout(Section::Shelf),
        tenant: place.tenant.clone(),
        next: last.map(|skill| format!("{path}?after={}", encode(&skill.name))),
        path,
        skills,
        authority: desk.office().skill_authority(place.scope).await?,
    }))
}

/// A change of a skill.
struct SkillChange {
    version: String,
    status: SkillStatus,
    at: Option<String>,
    by: Option<String>,
}

#[derive(Template)]
#[template(path = "skill.html")]
struct SkillPage<'a> {
    layout: Layout,
    clock: PageClock,
    path: String,
    shelf_path: String,
    check: SkillCheck,
    /// The version that is shown.
    version: &'a str,
    /// The version with which it is compared.
    with: Option<&'a str>,
    lines: Vec<DiffLine<'a>>,
    history: Vec<SkillChange>,
    /// The command by which the approver signs the version.
    command: String,
    statuses: [SkillStatus; 3],
    may_manage: bool,
}

impl SkillPage<'_> {
    fn is_compared(&self, version: &str) -> bool {
        self.with == Some(version)
    }

    const fn is_diff(&self) -> bool {
        self.with.is_some()
    }
}

/// The skill of a path.
#[derive(Deserialize)]
struct SkillPath {
    skill: String,
}

/// The versions to show.
#[derive(Deserialize)]
struct VersionsQuery {
    version: Option<String>,
    /// An earlier version to compare with.
    with: Option<String>,
}

async fn show(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(SkillPath { skill }): Path<SkillPath>,
    Query(query): Query<VersionsQuery>,
) -> Result<Response, Refusal> {
    let admin = desk.office().skills(place.scope).await?;
    let check = admin.check(&skill).await?;
    let shown = admin.load(&skill, query.version.as_deref().filter(|one| !one.is_empty())).await?;
    let with = query.with.as_deref().filter(|one| !one.is_empty());
    let other = match with {
        Some(version) => Some(admin.load(&skill, Some(version)).await?),
        None => None,
    };
    let history = admin.history(&skill).await?.into_iter().map(|change| SkillChange {
        version: change.version,
        status: change.status,
        at: Timestamp::from_second(change.changed_at).ok().map(|at| at.to_string()),
        by: change.changed_by,
    });
    let lines = match &other {
        Some(other) => diff_lines(&other.source, &shown.source),
        None => shown.source.lines().map(DiffLine::Same).collect(),
    };
    Ok(render_page(&SkillPage {
        layout: place.layout(Section::Shelf),
        clock: desk.page_clock(),
        path: skill_path(&place, &skill),
        shelf_path: format!("{}/shelf", place.path()),
        command: approve_command(&place.tenant, &skill, &shown.version),
        check,
        version: &shown.version,
        with,
        lines,
        history: history.collect(),
        statuses: SkillStatus::ALL,
        may_manage: place.allows(Right::Manage),
    }))
}

fn skill_path(place: &TenantPlace, skill: &str) -> String {
    format!("{}/shelf/{}", place.path(), encode(skill))
}

/// Returns the command by which the approver signs a version with a key that no node has.
fn approve_command(tenant: &str, skill: &str, version: &str) -> String {
    let [tenant, skill, version] = [tenant, skill, version].map(shell_word);
    format!(
        "nightdesk skill approve --tenant {tenant} {skill} --version {version} --key-file approval.key"
    )
}

/// Quotes a word of a command, if the shell would change it.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[derive(Deserialize)]
struct StatusForm {
    status: String,
}

async fn set_status(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(SkillPath { skill }): Path<SkillPath>,
    OwnForm(form): OwnForm<StatusForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let status = SkillStatus::from_exact(&form.status).ok_or_else(bad_form)?;
    desk.office().skills(scope).await?.set_status(&skill, status).await?;
    Ok(Notice::SkillStatusSet.redirect(&skill_path(&place, &skill)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_the_shell() {
        let command = approve_command("acme", "o'brief; rm", "v1");

        assert_eq!(
            command,
            r"nightdesk skill approve --tenant acme 'o'\''brief; rm' --version v1 --key-file approval.key"
        );
        assert_eq!(shell_word("--yes"), "'--yes'");
        assert_eq!(shell_word(""), "''");
    }
}
