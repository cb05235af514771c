//! Every page of the dashboard, and the times of its responses.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::browser::{DeskBrowser, LoadedPage};
use super::crowd::Crowd;
use super::visitors::{TenantAdmin, Visitors};
use crate::figures::percentile_ms;
use crate::ui;

/// The first agent of the crowd, which has the most entries, its job and its gateway, and a webhook of its tenant.
const AGENT: &str = "crowd-000000";
const JOB: &str = "report";
const GATEWAY: &str = "crowd-gw-000000";
const HOOK: &str = "hook-000003";

/// A reason for which entries of the crowd are parked.
const REASON: &str = "tries";

/// Parts of paths that are followed by a name.
const COLLECTIONS: [&str; 10] =
    ["t", "agents", "entries", "gateways", "jobs", "bots", "shelf", "stuck", "hooks", "new"];

/// The names in the addresses of pages.
#[derive(Debug)]
pub struct ShownNames {
    tenant: String,
    /// An agent with a line.
    awake: String,
    bot: String,
    skill: String,
    versions: [String; 2],
    /// Entries of the first agent.
    parked: i64,
    waiting: i64,
}

/// The times of the responses of a page.
#[derive(Debug)]
pub struct PageTimes {
    /// The name of the page.
    pub name: &'static str,
    /// The median, in milliseconds.
    pub p50_ms: f64,
    /// The 99th percentile, in milliseconds.
    pub p99_ms: f64,
}

impl ShownNames {
    /// Has a node seal entries of the first agent, and parks one of them.
    pub async fn make(crowd: &Crowd, admin: &TenantAdmin) -> Result<Self> {
        let TenantAdmin { tenant, agent, browser } = admin;
        crowd.post_sealed(browser.node()).await?;
        let entries = format!("/t/{tenant}/agents/{AGENT}/entries");
        let latest = browser.open(&format!("{entries}/latest")).await?.location;
        let latest = latest.context("the first agent has no latest entry")?;
        let waiting: i64 = latest.rsplit('/').next().unwrap_or_default().parse()?;
        let parked = waiting - 1;
        browser.submit(&format!("{entries}/{parked}/park"), "").await?;
        Ok(Self {
            tenant: tenant.clone(),
            awake: agent.clone(),
            bot: crowd.bot(),
            skill: crowd.skill.clone(),
            versions: crowd.versions.clone(),
            parked,
            waiting,
        })
    }

    /// Returns the pages of the desk, with a name each.
    fn of_desk(&self) -> Vec<(&'static str, String)> {
        let tenant = &self.tenant;
        let pages = [
            ("tenants", "/"),
            ("tenants-next", "/?after=crowd-100"),
            ("new-tenant", "/new-tenant"),
            ("desk-usage", "/usage"),
            ("nodes", "/nodes"),
            ("desk-alerts", "/alerts"),
            ("desk-audit", "/audit"),
            ("desk-users", "/users"),
            ("desk-glass", "/glass"),
            ("tokens", "/tokens"),
            ("login", "/login"),
        ];
        let pages = pages.map(|(name, path)| (name, path.to_owned()));
        pages.into_iter().chain([("glass-asked", format!("/t/{tenant}/glass"))]).collect()
    }

    /// Returns the pages of the tenant, with a name each.
    fn of_tenant(&self) -> Vec<(&'static str, String)> {
        let Self { awake, bot, skill, versions: [new, old], .. } = self;
        let below =
            |(name, path): (&'static str, String)| (name, format!("/t/{}{path}", self.tenant));
        let pages = [
            ("overview", String::new()),
            ("overview-next", "?after=crowd-010000".to_owned()),
            ("overview-prefix", "?prefix=crowd-0199".to_owned()),
            ("overview-needed", "?state=needed".to_owned()),
            ("overview-awake", "?state=awake".to_owned()),
            ("new-agent", "/new-agent".to_owned()),
            ("agent-awake", format!("/agents/{awake}")),
            ("entry-delivered", format!("/agents/{awake}/entries/1")),
            ("stuck", "/stuck".to_owned()),
            ("stuck-group", format!("/stuck/{REASON}")),
            ("stuck-drop", format!("/stuck/{REASON}/drop")),
            ("jobs", "/jobs".to_owned()),
            ("jobs-agent", format!("/jobs?agent={AGENT}")),
            ("fires", "/fires".to_owned()),
            ("fires-agent", format!("/fires?agent={AGENT}")),
            ("letters", "/letters".to_owned()),
            ("letters-agent", format!("/letters?agent={AGENT}")),
            ("hook-remove", format!("/letters/hooks/{HOOK}/remove")),
            ("shelf", "/shelf".to_owned()),
            ("skill", format!("/shelf/{skill}")),
            ("skill-compared", format!("/shelf/{skill}?version={new}&with={old}")),
            ("people", "/people".to_owned()),
            ("bots", "/bots".to_owned()),
            ("bot", format!("/bots/{bot}")),
            ("bot-remove", format!("/bots/{bot}/remove")),
            ("bot-platform", "/bots/new".to_owned()),
            ("bot-token", "/bots/new/telegram".to_owned()),
            ("alerts", "/alerts".to_owned()),
            ("audit", "/audit".to_owned()),
            ("audit-before", "/audit?before=10000".to_owned()),
            ("usage", "/usage".to_owned()),
            ("users", "/users".to_owned()),
            ("glass", "/glass".to_owned()),
        ];
        pages.into_iter().chain(self.of_first_agent()).map(below).collect()
    }

    /// Returns the pages of the first agent, below its tenant.
    fn of_first_agent(&self) -> Vec<(&'static str, String)> {
        let Self { parked, waiting, .. } = self;
        let pages = [
            ("agent", String::new()),
            ("agent-next", "?after=5000".to_owned()),
            ("entry-acked", "/entries/1".to_owned()),
            ("entry-waiting", format!("/entries/{waiting}")),
            ("entry-parked", format!("/entries/{parked}")),
            ("entry-drop", format!("/entries/{parked}/drop")),
            ("entry-latest", "/entries/latest".to_owned()),
            ("job", format!("/jobs/{JOB}")),
            ("job-cancel", format!("/jobs/{JOB}/cancel")),
            ("gateway-revoke", format!("/gateways/{GATEWAY}/revoke")),
        ];
        pages.into_iter().map(|(name, path)| (name, format!("/agents/{AGENT}{path}"))).collect()
    }
}

/// Requests every page so many times: those of the desk as an operator, those of the tenant as its administrator. A page
/// that another page links and that is not measured is an error.
pub async fn measure_pages(
    names: &ShownNames,
    visitors: &Visitors,
    requests: usize,
) -> Result<Vec<PageTimes>> {
    let operator = visitors.operators.first().context("there is no operator")?;
    let admin = &visitors.admins.first().context("there is no administrator")?.browser;
    let of_desk = names.of_desk().into_iter().map(|page| (operator, page));
    let of_tenant = names.of_tenant().into_iter().map(|page| (admin, page));
    let (mut times, mut measured, mut linked) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (browser, (name, path)) in of_desk.chain(of_tenant) {
        // The first request is a warm-up.
        let page = open(browser, name, &path).await?;
        linked.extend(linked_forms(&page.html));
        measured.insert(form_of(&path));
        times.push(measure(browser, (name, &path), requests).await?);
    }
    let forgotten: Vec<_> = linked.difference(&measured).map(String::as_str).collect();
    ensure!(forgotten.is_empty(), "these pages are linked and not measured: {forgotten:?}");
    Ok(times)
}

async fn open(browser: &DeskBrowser, name: &str, path: &str) -> Result<LoadedPage> {
    let page = browser.open(path).await?;
    let is_page = page.status == 200 || page.location.is_some();
    ensure!(is_page, "the page {name}, {path}, got {}:\n{}", page.status, page.html);
    Ok(page)
}

async fn measure(
    browser: &DeskBrowser,
    (name, path): (&'static str, &str),
    requests: usize,
) -> Result<PageTimes> {
    let (mut times, mut bytes): (Vec<Duration>, usize) = (Vec::with_capacity(requests), 0);
    for _ in 0..requests {
        let began = Instant::now();
        bytes = open(browser, name, path).await?.html.len();
        times.push(began.elapsed());
    }
    let (p50_ms, p99_ms) = (percentile_ms(&mut times, 50), percentile_ms(&mut times, 99));
    ui::say(&format!("{name}: p50_ms={p50_ms:.1} p99_ms={p99_ms:.1} kib={}", bytes >> 10));
    Ok(PageTimes { name, p50_ms, p99_ms })
}

/// Returns the forms of the pages of the desk that a page links.
fn linked_forms(html: &str) -> impl Iterator<Item = String> {
    let targets = html.split("href=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0));
    let is_page = |path: &&str| path.starts_with('/') && !path.starts_with("/desk-assets/");
    targets.filter(is_page).map(form_of)
}

/// Returns the form of an address: without its query, and with a star in place of each name.
fn form_of(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut is_name = false;
    let segments = path.split('/').map(|segment| {
        let shown = if is_name && segment != "new" { "*" } else { segment };
        is_name = shown != "*" && COLLECTIONS.contains(&segment);
        shown
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_form_without_names() {
        let cases = [
            ("the desk", "/usage?after=x", "/usage"),
            ("a tenant", "/t/acme", "/t/*"),
            ("an entry", "/t/acme/agents/t/entries/7", "/t/*/agents/*/entries/*"),
            ("a step", "/t/acme/bots/new/telegram", "/t/*/bots/new/*"),
        ];
        for (name, path, want) in cases {
            assert_eq!(form_of(path), want, "{name}");
        }
    }

    #[test]
    fn links_of_a_page_are_found() {
        let html = "<a href=\"/t/a/jobs?agent=\">x</a> <link href=\"/desk-assets/a.css\"> \
                    <a href=\"https://example.org/\">";

        assert_eq!(linked_forms(html).collect::<Vec<_>>(), ["/t/*/jobs"]);
    }
}
