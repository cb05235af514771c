//! The pages of the dashboard: each page and each form, opened by each role, by a foreign tenant's admin, from another site,
//! and without a session.

use std::time::Duration;

use nightdesk_testdesk::{Answered, get, request};
use nightdesk_types::limits::ALERT_CLEAR_AFTER;
use nightdesk_users::{Role, TenantRole};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::alerts::{deafen, heal};
use super::{ANNS_WORDS, ANY, Office, ROLES};

/// A page: its address, and the letters of the roles that may open it.
type PageCase = (&'static str, &'static str);

const PAGES: &[PageCase] = &[
    ("/new-tenant", "O"),
    ("/alerts", "OA"),
    ("/alerts/ways/{desk_way}/remove", "O"),
    ("/usage", "OA"),
    ("/nodes", "OA"),
    ("/audit", "OA"),
    ("/users", "O"),
    ("/glass", "OA"),
    ("/tokens", ANY),
    ("/t/ann", ANY),
    ("/t/ann?state=needed&prefix=a", ANY),
    ("/t/ann/new-agent", "Oa"),
    ("/t/ann/agents/ann", ANY),
    ("/t/ann/agents/ann/gateways/gw/revoke", "Oa"),
    ("/t/ann/agents/ann/entries/1", ANY),
    ("/t/ann/agents/ann/entries/1/drop", "Oam"),
    ("/t/ann/agents/ann/jobs/tidy/cancel", "Oam"),
    ("/t/ann/alerts", ANY),
    ("/t/ann/alerts/ways/{way}/remove", "Oa"),
    ("/t/ann/stuck", ANY),
    ("/t/ann/stuck/tries", ANY),
    ("/t/ann/stuck/tries/drop", "Oam"),
    ("/t/ann/bots", ANY),
    ("/t/ann/bots/new", "Oa"),
    ("/t/ann/bots/new/scripted", "Oa"),
    ("/t/ann/bots/{bot}", ANY),
    ("/t/ann/bots/{bot}/remove", "Oa"),
    ("/t/ann/people", ANY),
    ("/t/ann/jobs", ANY),
    ("/t/ann/fires", ANY),
    ("/t/ann/letters?agent=ann", ANY),
    ("/t/ann/letters/hooks/runtime/remove", "Oa"),
    ("/t/ann/shelf", ANY),
    ("/t/ann/audit", "OAau"),
    ("/t/ann/usage", ANY),
    ("/t/ann/users", "Oa"),
    ("/t/ann/glass", ANY),
];

/// A form: its address, its fields, and the letters of the roles that may send it.
type FormCase = (&'static str, &'static str, &'static str);

const FORMS: &[FormCase] = &[
    ("/new-tenant", "name=fresh", "O"),
    ("/users", "name=New&role=auditor", "O"),
    ("/tokens", "name=script&rights=read&days=7", ANY),
    ("/alerts/ways", "mail=ops@a.example&coverage=all-tenants", "O"),
    ("/alerts/ways/{desk_way}/test", "", "O"),
    ("/alerts/ways/{desk_way}/remove", "confirm={desk_way}", "O"),
    ("/t/ann/new-agent", "name=fresh", "Oa"),
    ("/t/ann/agents/ann/wake", "", "Oam"),
    ("/t/ann/agents/ann/trial", "", "Oam"),
    ("/t/ann/agents/ann/wake-urls", "urls=https://agents.example/wake", "Oa"),
    ("/t/ann/agents/ann/link-codes", "", "Oa"),
    ("/t/ann/agents/ann/gateways", "name=gw-new", "Oa"),
    ("/t/ann/agents/ann/gateways/gw/revoke", "confirm=gw", "Oa"),
    ("/t/ann/agents/ann/entries/1/park", "", "Oam"),
    ("/t/ann/agents/ann/entries/1/resubmit", "", "Oam"),
    ("/t/ann/agents/ann/entries/1/drop", "confirm=1", "Oam"),
    ("/t/ann/agents/ann/jobs/tidy/fire", "", "Oam"),
    ("/t/ann/agents/ann/jobs/tidy/cancel", "confirm=tidy", "Oam"),
    ("/t/ann/alerts/ways", "webhook=https://ops.example/alerts", "Oa"),
    ("/t/ann/alerts/ways", "chat=c1&agent=ann&bot={bot}", "Oa"),
    ("/t/ann/alerts/ways/{way}/test", "", "Oa"),
    ("/t/ann/alerts/ways/{way}/remove", "confirm={way}", "Oa"),
    ("/t/ann/stuck/tries/resubmit", "", "Oam"),
    ("/t/ann/stuck/tries/drop", "confirm=tries", "Oam"),
    ("/t/ann/bots/new/scripted", "key=wrong", "Oa"),
    ("/t/ann/bots/new/page", "handle=hall", "Oa"),
    ("/t/ann/bots/{bot}/key", "key=another", "Oa"),
    ("/t/ann/bots/{bot}/share", "audience=all", "Oa"),
    ("/t/ann/bots/{bot}/remove", "confirm={bot}", "Oa"),
    ("/t/ann/people/bind", "agent=ann&bot={bot}&author=eve", "Oa"),
    ("/t/ann/people/unbind", "agent=ann&bot={bot}&author=ann", "Oa"),
    ("/t/ann/people/grant", "agent=ann&bot={bot}&chat=c9&open_to=any", "Oa"),
    ("/t/ann/people/release", "agent=ann&bot={bot}&chat=c9", "Oa"),
    ("/t/ann/letters/send", "from=ann&to=ann&text=hello", "Oam"),
    ("/t/ann/letters/hooks", "agent=ann&name=runtime", "Oa"),
    ("/t/ann/letters/hooks/runtime/remove", "confirm=runtime", "Oa"),
    ("/t/ann/letters/grant", "agent=ann&peer_tenant=bob&peer_agent=bob", "Oa"),
    ("/t/ann/letters/withdraw", "agent=ann&peer_tenant=bob&peer_agent=bob", "Oa"),
    ("/t/ann/shelf/brief/status", "status=Draft", "Oa"),
    ("/t/ann/audit/verify", "", "OAau"),
    ("/t/ann/users", "name=New&role=auditor", "Oa"),
    ("/t/ann/users/{user}/roles", "role=auditor", "Oa"),
    ("/t/ann/users/{user}/link", "", "Oa"),
    ("/t/ann/users/{user}/logout", "", "Oa"),
    ("/t/ann/glass", "reason=ticket&minutes=5", "O"),
];

/// A browser with a session.
struct PageVisitor<'o> {
    office: &'o Office,
    cookie: String,
}

impl Office {
    /// Fills in the parameters of an address or of the fields of a form. Ways for alerts exist only where a test adds
    /// them.
    fn fill(&self, text: &str) -> String {
        let nothing = uuid::Uuid::nil().to_string();
        text.replace("{bot}", &self.ann.bot.to_string())
            .replace("{user}", &self.member.to_string())
            .replace("{way}", &nothing)
            .replace("{desk_way}", &nothing)
    }

    /// Opens a browser of a new user with these roles.
    async fn visitor(&self, roles: &[Role]) -> PageVisitor<'_> {
        let user = self.user(roles).await;
        let cookie = self.users.begin_session(user).await.expect("begin a session");
        let cookie =
            cookie.expect("the user has a role").with(|value| format!("nightdesk={value}"));
        PageVisitor { office: self, cookie }
    }

    async fn post_form(&self, path: &str, fields: &str, headers: &[(&str, &str)]) -> Answered {
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers: Vec<_> = headers.iter().copied().chain([form]).collect();
        let (path, fields) = (self.fill(path), self.fill(fields));
        request(self.desk.address(), ("POST", &path), &headers, fields.as_bytes()).await
    }
}

impl PageVisitor<'_> {
    async fn open(&self, path: &str) -> Answered {
        let path = self.office.fill(path);
        get(self.office.desk.address(), &path, &[("cookie", &self.cookie)]).await
    }

    /// Sends a form as a page of this site does, as the browser names it.
    async fn send_from(&self, site: &str, path: &str, fields: &str) -> Answered {
        let headers = [("cookie", self.cookie.as_str()), ("sec-fetch-site", site)];
        self.office.post_form(path, fields, &headers).await
    }

    async fn send(&self, path: &str, fields: &str) -> Answered {
        self.send_from("same-origin", path, fields).await
    }

    /// Adds a webhook on a page of alerts, and returns its id.
    async fn add_way(&self, page: &str) -> String {
        let added = self.send(&format!("{page}/ways"), "webhook=https://ops.example/alerts").await;
        assert!(added.status == 200 && added.text.contains("whsec_"), "{}", added.text);
        let listed = self.open(page).await.text;
        let id = listed.split("/alerts/ways/").nth(1).and_then(|rest| rest.split('/').next());
        id.expect("the page lists the way").to_owned()
    }
}

/// A way for alerts of ann's tenant and one of the operator, by their ids.
struct WaysOfPages {
    anns: String,
    operators: String,
}

impl WaysOfPages {
    async fn add(office: &Office) -> Self {
        let operator = office.visitor(&[Role::Operator]).await;
        let anns = operator.add_way("/t/ann/alerts").await;
        Self { anns, operators: operator.add_way("/alerts").await }
    }

    fn fill(&self, path: &str) -> String {
        path.replace("{way}", &self.anns).replace("{desk_way}", &self.operators)
    }
}

/// True if a page loads only files of the desk and has neither an inline script nor an inline style.
fn is_strict(page: &Answered) -> bool {
    let policy = page.header("content-security-policy").unwrap_or_default();
    policy.contains("script-src 'self'; style-src 'self'")
        && !page.text.contains("<script>")
        && !page.text.contains(" style=\"")
        && !page.text.contains(" onclick=")
}

#[tokio::test]
async fn each_page_opens_for_the_roles_that_may_see_it() {
    let office = Office::open().await;
    let ways = WaysOfPages::add(&office).await;
    let mut wrong = Vec::new();
    for letter in ROLES.chars() {
        let visitor = office.visitor(&[office.role(letter)]).await;
        for (path, allowed) in PAGES {
            let page = visitor.open(&ways.fill(path)).await;
            let want = if allowed.contains(letter) { 200 } else { 403 };
            if page.status != want || !is_strict(&page) {
                wrong.push(format!("{letter} {path}: {} instead of {want}", page.status));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[tokio::test]
async fn each_form_is_taken_from_the_roles_that_may_send_it() {
    let mut wrong = Vec::new();
    for letter in ROLES.chars() {
        for (path, fields, allowed) in FORMS {
            // Each form has a desk of its own, so that no form depends on the one before.
            let office = Office::open().await;
            let visitor = office.visitor(&[office.role(letter)]).await;
            let before = office.state().await;
            let page = visitor.send(path, fields).await;
            let is_right = if allowed.contains(letter) {
                [200, 303, 400, 404, 409].contains(&page.status)
            } else {
                page.status == 403 && office.state().await == before
            };
            if !is_right {
                wrong.push(format!("{letter} {path}: {} {}", page.status, page.text));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[tokio::test]
async fn a_form_of_another_site_is_refused() {
    let office = Office::open().await;
    let (operator, admin) =
        (office.visitor(&[Role::Operator]).await, office.visitor(&[office.role('a')]).await);
    let before = office.state().await;
    let mut wrong = Vec::new();
    for (path, fields, _) in FORMS {
        for visitor in [&operator, &admin] {
            for site in ["cross-site", "same-site", "none"] {
                let page = visitor.send_from(site, path, fields).await;
                if page.status != 403 || office.state().await != before {
                    wrong.push(format!("{site} {path}: {}", page.status));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[tokio::test]
async fn no_page_of_a_foreign_tenant_tells_anything() {
    let office = Office::open().await;
    let of_bob = Role::Tenant(office.bob.scope.tenant(), TenantRole::Admin);
    let (visitor, before) = (office.visitor(&[of_bob]).await, office.state().await);
    let anns = PAGES.iter().map(|(path, _)| *path).filter(|path| path.starts_with("/t/ann"));
    let unknown = visitor.open("/t/nowhere").await;
    let mut wrong = Vec::new();
    let live = ["/t/ann/live", "/t/ann/agents/ann/live", "/t/ann/stuck/live", "/t/ann/alerts/live"];
    for path in anns.chain(live) {
        let page = visitor.open(path).await;
        if page.status != 404 || !office.is_silent(&page) {
            wrong.push(format!("{path}: {}", page.status));
        }
    }
    for (path, fields, _) in FORMS.iter().filter(|(path, _, _)| path.starts_with("/t/ann")) {
        let page = visitor.send(path, fields).await;
        if page.status != 404 || !office.is_silent(&page) || office.state().await != before {
            wrong.push(format!("POST {path}: {}", page.status));
        }
    }
    assert_eq!(wrong, [""; 0]);
    let body = |page: &Answered| page.text.split("\r\n\r\n").nth(1).map(str::to_owned);
    let ann = body(&visitor.open("/t/ann").await).map(|text| text.replace("ann", "nowhere"));
    assert_eq!(ann, body(&unknown), "a foreign tenant looks like none");
}

#[tokio::test]
async fn without_a_session_every_page_leads_to_the_login() {
    let office = Office::open().await;
    let before = office.state().await;
    for cookie in ["", "nightdesk=nds_guess", "other=1"] {
        for (path, _) in PAGES {
            let path = office.fill(path);
            let page = get(office.desk.address(), &path, &[("cookie", cookie)]).await;
            let to = page.header("location").unwrap_or_default();
            assert!(page.status == 303 && to.starts_with("/login?return_to="), "{path}: {to}");
            assert!(office.is_silent(&page), "{path}");
        }
        for (path, fields, _) in FORMS {
            let headers = [("cookie", cookie), ("sec-fetch-site", "same-origin")];
            let page = office.post_form(path, fields, &headers).await;
            assert_eq!(page.status, 303, "{path}: {}", page.text);
        }
    }
    assert_eq!(office.state().await, before);
}

#[tokio::test]
async fn only_readers_of_messages_see_the_text_of_an_entry() {
    let office = Office::open().await;
    for letter in ROLES.chars() {
        let visitor = office.visitor(&[office.role(letter)]).await;
        for path in ["/t/ann/agents/ann/entries/1", "/t/ann/agents/ann", "/t/ann/stuck", "/t/ann"] {
            let page = visitor.open(path).await;
            let may_read = "am".contains(letter) && path.ends_with("/entries/1");
            assert_eq!(page.text.contains(ANNS_WORDS), may_read, "{letter} {path}");
        }
    }
}

#[tokio::test]
async fn a_parked_entry_is_explained_and_delivered_again() {
    let office = Office::open().await;
    let member = office.visitor(&[office.role('m')]).await;
    let entry = "/t/ann/agents/ann/entries/1";
    assert!(member.open(entry).await.text.contains("The gate admitted it: the author is linked"));
    let parked = member.send(&format!("{entry}/park"), "").await;
    assert_eq!(parked.header("location"), Some(&*format!("{entry}?done=parked")));
    let page = member.open(entry).await;
    assert!(page.text.contains("a person parked it") && page.text.contains("Deliver again"));
    assert!(member.open("/t/ann/stuck").await.text.contains("/t/ann/stuck/operator"));

    let again = member.send(&format!("{entry}/resubmit"), "").await;
    let to = again.header("location").expect("an address").to_owned();
    assert_eq!(to, "/t/ann/agents/ann/entries/2?done=resubmitted");
    let page = member.open(&to).await;
    assert!(page.text.contains("under a new number") && page.text.contains("it was entry 1"));
    let unsure = member.send(&format!("{entry}/drop"), "").await;
    assert_eq!(unsure.status, 400, "a removal needs its confirmation");
}

#[tokio::test]
async fn a_secret_is_shown_once_and_redirects_carry_none() {
    let office = Office::open().await;
    let admin = office.visitor(&[office.role('a')]).await;
    let made = admin.send("/t/ann/agents/ann/gateways", "name=gw-new").await;
    assert!(made.status == 200 && made.text.contains("GATEWAY_RELAY_SECRET"), "{}", made.text);
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let page = admin.open("/t/ann/agents/ann").await;
    assert!(page.text.contains("gw-new") && !page.text.contains("GATEWAY_RELAY_SECRET"));
    let shown = admin.open("/t/ann/agents/ann?done=%3Cscript%3E").await;
    assert!(is_strict(&shown), "an address puts no text on a page");
}

#[tokio::test]
async fn a_way_for_alerts_is_added_tested_and_removed() {
    let office = Office::open().await;
    let admin = office.visitor(&[office.role('a')]).await;
    let way = format!("/t/ann/alerts/ways/{}", admin.add_way("/t/ann/alerts").await);
    let page = admin.open("/t/ann/alerts").await;
    assert!(page.text.contains("ops.example") && !page.text.contains("whsec_"), "{}", page.text);
    let tested = admin.send(&format!("{way}/test"), "").await;
    assert_eq!(tested.header("location"), Some("/t/ann/alerts?done=alert-way-tested"));
    assert_eq!(office.desk.alerts.take().len(), 1);
    let early = admin.send(&format!("{way}/test"), "").await;
    assert!(early.status == 409 && early.text.contains("within the last 60 s"), "{}", early.text);

    let remove = format!("{way}/remove");
    let asked = admin.open(&remove).await;
    assert!(asked.text.contains("Remove the webhook https://ops.example/alerts?"));
    assert_eq!(admin.send(&remove, "").await.status, 400, "a removal needs its confirmation");
    let id = way.rsplit('/').next().unwrap_or_default();
    let removed = admin.send(&remove, &format!("confirm={id}")).await;
    assert_eq!(removed.header("location"), Some("/t/ann/alerts?done=alert-way-removed"));
    assert!(!admin.open("/t/ann/alerts").await.text.contains("ops.example"));
    assert_eq!(admin.open(&remove).await.status, 404);
}

#[tokio::test]
async fn an_alert_is_on_the_pages_of_its_tenant_and_of_the_desk() {
    let office = Office::open().await;
    WaysOfPages::add(&office).await;
    let auditor = office.visitor(&[office.role('u')]).await;
    let operator = office.visitor(&[Role::Operator]).await;
    deafen(&office.desk, &office.ann).await;
    office.desk.sweep_alerts().await;

    let page = auditor.open("/t/ann/alerts").await.text;
    assert!(page.contains(r#"<a href="/t/ann/bots">1 bot receives no events</a>"#), "{page}");
    assert!(
        page.contains("revoked") && page.contains("<code>nightdesk bot check</code>"),
        "{page}"
    );
    assert!(!page.contains("ops.example"), "a URL may contain a secret");
    let overview = auditor.open("/t/ann").await.text;
    assert!(overview.contains(r#"<a href="/t/ann/alerts">1</a>"#), "{overview}");
    let of_desk = operator.open("/alerts").await.text;
    assert!(of_desk.contains("1 bot receives no events"), "{of_desk}");
    assert!(of_desk.contains(r#"<a href="/t/ann/alerts">ann</a>"#), "{of_desk}");

    heal(&office.desk, &office.ann).await;
    office.desk.store.clock().let_pass(ALERT_CLEAR_AFTER);
    office.desk.sweep_alerts().await;
    let page = auditor.open("/t/ann/alerts").await.text;
    assert!(page.contains("No alert is open.") && page.contains("deaf-bot"), "{page}");
}

/// A stream of a page.
struct PageStream {
    lines: BufReader<TcpStream>,
}

impl PageStream {
    /// Opens a stream. An error is the status of the refusal.
    async fn open(visitor: &PageVisitor<'_>, path: &str) -> Result<Self, u16> {
        let mut socket =
            TcpStream::connect(visitor.office.desk.address()).await.expect("the desk listens");
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: desk\r\nconnection: close\r\ncookie: {}\r\n\r\n",
            visitor.cookie
        );
        socket.write_all(head.as_bytes()).await.expect("the head is taken");
        let mut lines = BufReader::new(socket);
        let mut first = String::new();
        lines.read_line(&mut first).await.expect("a status line");
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        if status == 200 { Ok(Self { lines }) } else { Err(status) }
    }

    /// Returns the name of the next event. `None`: the stream ended.
    async fn next_event(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            let read = timeout(Duration::from_secs(10), self.lines.read_line(&mut line)).await;
            if read.expect("in time").unwrap_or(0) == 0 {
                return None;
            }
            if let Some(name) = line.trim_end().strip_prefix("event: ") {
                return Some(name.to_owned());
            }
        }
    }
}

#[tokio::test]
async fn an_open_page_gets_changed_rows_until_its_session_ends() {
    let office = Office::open().await;
    let member = office.visitor(&[office.role('m')]).await;
    let mut stream = PageStream::open(&member, "/t/ann/agents/ann/live").await.expect("a stream");
    assert_eq!(stream.next_event().await.as_deref(), Some("fragment"));
    assert_eq!(office.desk.says(&office.ann, "ann", "k7").await, 200);
    assert_eq!(stream.next_event().await.as_deref(), Some("fragment"), "another entry waits");

    assert_eq!(member.send("/logout", "").await.status, 303);
    assert_eq!(stream.next_event().await.as_deref(), Some("over"));
    assert_eq!(stream.next_event().await, None);
}

#[tokio::test]
async fn a_node_that_stops_ends_its_streams() {
    let office = Office::open().await;
    let member = office.visitor(&[office.role('m')]).await;
    let mut stream = PageStream::open(&member, "/t/ann/live").await.expect("a stream");

    assert!(office.desk.stop().await < Duration::from_secs(10));
    assert_eq!(stream.next_event().await, None);
}
