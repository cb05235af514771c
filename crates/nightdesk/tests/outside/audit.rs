//! S7. Every command, and its rows in the audit log of a real database. A command that is missing in the table fails
//! the test.

use std::collections::BTreeSet;

use crate::desk::{Desk, ask, value};
use crate::docs::{Variables, entered_on};
use crate::telegram::Fake;

/// The chain that a row is in.
#[derive(Clone, Copy)]
enum Whose {
    Acme,
    Desk,
    Somebody,
}
use Whose::{Acme, Somebody};

/// The actor that a row names.
#[derive(Clone, Copy)]
enum Who {
    /// An operator on the desk's own machine.
    Operator,
    /// The operator who is logged in.
    User,
    /// The operator's newest token, with which the commands call.
    Token,
    /// A second operator.
    Other,
}

/// An operator's commands, in an order in which each succeeds, and the kind of their audit row.
const ACTS: [(&str, &str, Whose, &str); 58] = [
    ("tenant create", "beta", Somebody, "tenant-created"),
    ("tenant quota", "--tenant acme agents=60", Acme, "quota-set"),
    ("tenant trust-gateways", "--tenant acme", Acme, "gateways-trusted"),
    ("tenant rotate-key", "acme", Acme, "keys-rotated"),
    ("agent create", "--tenant acme owl", Acme, "agent-created"),
    ("agent wake-url", "$OF https://agents.example/wake", Acme, "wake-url-set"),
    ("agent webhook", "$OF https://agents.example/entries", Acme, "wake-url-set"),
    ("agent webhook", "$OF --clear", Acme, "wake-url-set"),
    ("agent reach", "$OF --open-to any", Acme, "principal-opened"),
    ("agent let-stop", "$OF", Acme, "stops-allowed"),
    ("bot create", "--tenant acme --platform webchat --handle hall", Acme, "bot-created"),
    ("bot connect", "telegram --tenant acme --key-file telegram.key", Acme, "bot-created"),
    ("bot rotate-key", "--tenant acme --bot $BOT --key-file new.key", Acme, "bot-key-rotated"),
    ("bot share", "--tenant acme --bot $BOT", Acme, "bot-shared"),
    ("link create", "$OF", Acme, "link-made"),
    ("binding create", "$OF --bot $BOT --author 4711", Acme, "bound"),
    ("binding prefer", "$OF --bot $BOT --author 4711", Acme, "preferred"),
    ("verify", "--tenant acme --wake helper --within 1s", Acme, "entry-put"),
    ("inbox park", "$OF --seq 1", Acme, "entry-set-aside"),
    ("inbox resubmit", "$OF --seq 1", Acme, "entry-resubmitted"),
    ("inbox park", "$OF --seq 2", Acme, "entry-set-aside"),
    ("inbox drop", "$OF --seq 2 --yes", Acme, "entry-removed"),
    ("wake call", "$OF", Acme, "wake-asked"),
    ("schedule add", "$OF later --in 24h --say hello", Acme, "job-armed"),
    ("schedule fire-now", "$OF later", Acme, "job-armed"),
    ("schedule add", "$OF never --in 24h --say hello", Acme, "job-armed"),
    ("schedule cancel", "$OF never", Acme, "job-cancelled"),
    ("letter send", "$OF owl hello", Acme, "entry-put"),
    ("letter hook", "$OF runtime", Acme, "letter-hook-made"),
    ("letter unhook", "--tenant acme runtime", Acme, "letter-hook-removed"),
    ("agent create", "--tenant beta spy", Somebody, "agent-created"),
    ("grant letters", "$OF --peer-tenant beta --peer-agent spy", Acme, "letters-granted"),
    ("grant no-letters", "$OF --peer-tenant beta --peer-agent spy", Acme, "letters-released"),
    ("skill write", "--tenant acme brief --file desk.toml", Acme, "skill-written"),
    ("skill approve", "--tenant acme brief --key-file approval.key", Acme, "skill-status-set"),
    ("skill status", "--tenant acme brief Disabled", Acme, "skill-status-set"),
    ("skill secure", "--tenant acme --public-key approval.key.pub", Acme, "shelf-secured"),
    ("skill delete", "--tenant acme brief --yes", Acme, "skill-deleted"),
    ("binding remove", "$OF --bot $BOT --author 4711", Acme, "unbound"),
    ("grant create", "$OF --bot $BOT --chat 99", Acme, "granted"),
    ("grant moderate", "$OF --bot $BOT --chat 99", Acme, "moderation-granted"),
    ("grant remove", "$OF --bot $BOT --chat 99", Acme, "released"),
    ("gateway create", "$OF --name gw-new", Acme, "gateway-created"),
    ("gateway token", "$OF", Acme, "gateway-invited"),
    ("gateway rotate", "--tenant acme --name gw-new", Acme, "gateway-rotated"),
    ("gateway revoke", "--tenant acme --name gw-new", Acme, "gateway-revoked"),
    ("issuer token", "$OF", Acme, "agent-token-made"),
    ("issuer session", "$OF", Acme, "session-begun"),
    ("issuer bind", "$OF --issuer https://login.example.org s1", Acme, "session-begun"),
    ("issuer end", "--tenant acme --issuer https://login.example.org s1", Acme, "session-ended"),
    ("bot remove", "--tenant acme --bot $BOT --yes", Acme, "bot-removed"),
    ("agent deprovision", "$OF", Acme, "agent-deprovisioned"),
    ("tenant erase", "beta --yes", Somebody, "tenant-erased"),
    ("key rotate", "", Whose::Desk, "vault-rotated"),
    ("issuer retire", "$KID", Whose::Desk, "signing-key-retired"),
    ("history new", "--reason snapshot", Whose::Desk, "history-begun"),
    // Repeated actions that change nothing are recorded again.
    ("tenant trust-gateways", "--tenant acme", Acme, "gateways-trusted"),
    ("agent wake-url", "$OF --clear", Acme, "wake-url-set"),
];

/// The audit rows of a command: chain, actor and kind.
type ActRows = &'static [(Whose, Who, &'static str)];

/// Commands about users and alerts, in an order in which each succeeds, and their audit rows. A value that a command prints is a
/// variable of the later ones.
const USER_ACTS: [(&str, &str, ActRows); 15] = [
    (
        "user create",
        "Ann --tenant acme --role member",
        &[(Whose::Desk, Who::Token, "user-created"), (Acme, Who::Token, "role-given")],
    ),
    ("user role", "$USER auditor --tenant acme", &[(Acme, Who::Token, "role-given")]),
    ("user role", "$USER auditor --tenant acme --take", &[(Acme, Who::Token, "role-taken")]),
    ("user link", "$USER", &[(Whose::Desk, Who::Token, "login-link-made")]),
    // The user has no session.
    ("user logout", "$USER", &[]),
    ("token create", "backup --right read", &[(Whose::Desk, Who::User, "api-token-made")]),
    ("token revoke", "$BACKUP", &[(Whose::Desk, Who::Token, "api-token-revoked")]),
    ("glass ask", "--tenant acme --reason ticket", &[(Acme, Who::Token, "glass-asked")]),
    ("glass approve", "$GLASS", &[(Acme, Who::Other, "glass-approved")]),
    ("glass end", "$GLASS", &[(Acme, Who::User, "glass-ended")]),
    (
        "alert way add",
        "--tenant acme --webhook https://ops.example/alerts",
        &[(Acme, Who::Token, "alert-way-added")],
    ),
    ("alert way remove", "$WAY --tenant acme", &[(Acme, Who::Token, "alert-way-removed")]),
    ("admin link", "> link.txt", &[(Whose::Desk, Who::Operator, "login-link-made")]),
    ("login", "--link \"$(cat link.txt)\"", &[(Whose::Desk, Who::User, "api-token-made")]),
    ("logout", "", &[(Whose::Desk, Who::Token, "api-token-revoked")]),
];

/// Such a command, the value that it prints, and the value's variable name.
const USER_VALUES: [(&str, &str, &str); 4] = [
    ("user create", "user_id", "USER"),
    ("token create", "token_id", "BACKUP"),
    ("glass ask", "request_id", "GLASS"),
    ("alert way add", "way_id", "WAY"),
];

/// Commands that only read, serve, or use no database. A node records `agent stop`.
const OTHERS: [&str; 44] = [
    "doctor",
    "alert list",
    "alert way list",
    "alert test",
    "agent stop",
    "whoami",
    "user list",
    "token list",
    "glass list",
    "conformance agent",
    "letter list",
    "letter show",
    "letter hooks",
    "grant list-letters",
    "skill list",
    "skill show",
    "skill history",
    "skill key",
    "skill verify",
    "data query",
    "data read",
    "data write",
    "schedule list",
    "schedule show",
    "schedule history",
    "serve",
    "dev",
    "migrate",
    "config check",
    "key new",
    "tenant list",
    "agent list",
    "bot list",
    "bot check",
    "gateway list",
    "gateway show",
    "issuer keys",
    "inbox list",
    "inbox show",
    "wake status",
    "notice list",
    "audit list",
    "audit verify",
    "explain",
];

/// Commands that find what they would create.
const REPEATED: [&str; 2] = ["tenant create acme", "agent create --tenant acme helper"];

/// Commands that fail.
const REFUSED: [&str; 19] = [
    "tenant quota --tenant acme owls=3",
    "bot create --tenant acme --platform webchat --handle lobby",
    "bot share --tenant acme --bot 00000000-0000-0000-0000-000000000001",
    "bot remove --tenant acme --bot 00000000-0000-0000-0000-000000000001 --yes",
    "bot remove --tenant acme --bot $BOT",
    "binding prefer $OF --bot $BOT --author nobody",
    "grant remove $OF --bot $BOT --chat none",
    "gateway create $OF --name gw-helper",
    "gateway rotate --tenant acme --name none",
    "gateway revoke --tenant acme --name none",
    "grant no-letters $OF --peer-tenant acme --peer-agent helper",
    "letter unhook --tenant acme none",
    "issuer end --tenant acme none",
    "issuer retire none",
    "inbox park $OF --seq 99",
    "inbox drop $OF --seq 1",
    "skill delete --tenant acme none --yes",
    "skill status --tenant acme none Approved",
    "tenant erase acme",
];

const ISSUER: &str = r#"
[[issuers]]
url = "https://login.example.org"
jwks_url = "https://login.example.org/jwks.json"
audience = "nightdesk"
tenant_claim = "tid"
"#;

/// A desk with all objects of the README, and an additional bot.
struct Told {
    desk: Desk,
    _telegram: Fake,
    entered: Variables,
    seen: BTreeSet<String>,
}

impl Told {
    fn open() -> Self {
        let telegram = Fake::open();
        let (desk, mut entered) = entered_on(&[ISSUER, &telegram.section()].concat());
        Fake::key_file(&desk);
        desk.run("nightdesk skill key --out approval.key", &[]);
        entered.run(&desk, "nightdesk bot create --tenant acme --platform webchat --handle lobby");
        entered.set("OF", "--tenant acme --agent helper");
        desk.run("echo key > new.key && chmod 400 new.key", &[]);
        desk.run("nightdesk issuer keys", &[]);
        entered.set("KID", &desk.sql("select kid from signing_keys"));
        let mut told = Self { desk, _telegram: telegram, entered, seen: BTreeSet::new() };
        told.new_rows();
        told
    }

    /// Returns the rows since the previous call: chain, actor and kind.
    fn new_rows(&mut self) -> Vec<String> {
        let rows = self.desk.sql(
            "select tenant_id || '/' || seq || ' ' || tenant_id || ' ' || actor || ' ' || kind from audit_log",
        );
        let rows = rows.lines().filter(|row| self.seen.insert((*row).to_owned()));
        rows.filter_map(|row| Some(row.split_once(' ')?.1.to_owned())).collect()
    }

    fn chain(&self, whose: Whose) -> String {
        match whose {
            Acme => self.entered.get("TENANT").to_owned(),
            Whose::Desk => "00000000-0000-0000-0000-000000000000".to_owned(),
            Somebody => self.desk.sql(
                "select tenant_id from audit_log where kind = 'tenant-created' order by at desc limit 1",
            ),
        }
    }

    fn actor(&self, who: Who) -> String {
        let user = |name: &str| {
            self.desk.sql(&format!("select 'user:' || user_id from users where name = '{name}'"))
        };
        match who {
            Who::Operator => "operator".to_owned(),
            Who::User => user("Administrator"),
            Who::Other => user("Other"),
            Who::Token => self.desk.sql(
                "select 'token:' || t.token_id from api_tokens t join users u using (user_id)
                 where u.name = 'Administrator' and t.name = 'nightdesk login'
                 order by t.created_at desc limit 1",
            ),
        }
    }

    fn row(&self, (whose, who, kind): (Whose, Who, &str)) -> String {
        format!("{} {} {kind}", self.chain(whose), self.actor(who))
    }
}

/// Returns every command of the binary's help.
fn commands(desk: &Desk) -> BTreeSet<String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![String::new()]);
    while let Some(path) = open.pop() {
        let help = desk.run(&format!("nightdesk {path} --help"), &[]);
        let below = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
        let names = below.into_iter().flat_map(str::lines);
        let names = names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let below: Vec<String> = names
            .filter(|name| !name.is_empty() && *name != "help")
            .map(|name| format!("{path} {name}").trim().to_owned())
            .collect();
        if below.is_empty() {
            found.insert(path);
        }
        open.extend(below);
    }
    found
}

#[test]
fn every_command_has_a_case() {
    let desk = Desk::configured("");
    let acts = ACTS.iter().map(|(command, ..)| *command);
    let user_acts = USER_ACTS.iter().map(|(command, ..)| *command);
    let cases: BTreeSet<String> = acts.chain(user_acts).chain(OTHERS).map(str::to_owned).collect();

    assert_eq!(commands(&desk), cases);
}

#[test]
fn each_act_is_told_once_and_what_is_refused_is_not() {
    let mut told = Told::open();
    for line in REFUSED {
        let line = told.entered.put_in(&format!("nightdesk {line}"));
        told.desk.fails(&line);
        assert_eq!(told.new_rows(), [""; 0], "{line}");
    }
    for line in REPEATED {
        told.desk.run(&format!("nightdesk {line}"), &[]);
        assert_eq!(told.new_rows(), [""; 0], "{line}");
    }
    for (command, rest, whose, kind) in ACTS {
        // No agent can be called here; the request is recorded all the same.
        let may_fail = if ["verify", "wake call"].contains(&command) { "|| true" } else { "" };
        let line = format!("timeout 20 nightdesk {command} {rest} {may_fail}");
        let line = told.entered.put_in(&line);
        told.desk.run(&line, &[]);

        // These commands open the database.
        let is_local = ["key rotate", "history new"].contains(&command);
        let who = if is_local { Who::Operator } else { Who::Token };
        let rows = told.new_rows();
        assert_eq!(rows, [told.row((whose, who, kind))], "{line}");
    }
    told.desk.run("nightdesk audit verify", &[]);
}

#[test]
fn what_users_do_is_told_with_their_tokens() {
    let mut told = Told::open();
    let other = ("NIGHTDESK_CREDENTIALS", "other.json".to_owned());
    let login = "nightdesk login --link \"$(nightdesk admin link --name Other)\"";
    told.desk.run(login, std::slice::from_ref(&other));
    told.new_rows();
    for (command, rest, rows) in USER_ACTS {
        let line = told.entered.put_in(&format!("nightdesk {command} {rest}"));
        let by_other = rows.iter().any(|(_, who, _)| matches!(who, Who::Other));
        let variables = if by_other { std::slice::from_ref(&other) } else { &[] };
        let answer = told.desk.run(&line, variables);
        for (_, name, variable) in USER_VALUES.into_iter().filter(|(of, ..)| *of == command) {
            told.entered.set(variable, value(&answer, name));
        }

        let mut wants: Vec<String> = rows.iter().map(|row| told.row(*row)).collect();
        let mut found = told.new_rows();
        wants.sort();
        found.sort();
        assert_eq!(found, wants, "{line}");
    }
}

#[test]
fn who_fails_and_who_has_a_token_are_told() {
    let mut told = Told::open();
    let (tenant, agent) = (told.entered.get("TENANT"), told.entered.get("AGENT"));
    let want = |kind| format!("{tenant} agent:{agent} {kind}");
    let wants =
        [want("link-made"), want("granted"), want("principal-opened"), want("list-replaced")];
    let token = told.desk.run(&told.entered.put_in("nightdesk issuer token $OF"), &[]);
    let token = value(&token, "token").to_owned();
    told.new_rows();
    let asked = ["link", "scope", "principal", "allow-list"];
    for (asked, want) in asked.into_iter().zip(wants) {
        let body = r#"{"platform":"webchat","chatId":"c9","principal":"any","userIds":["u1"]}"#;
        let post = |bearer: &str| {
            let head = format!(
                "authorization: Bearer {bearer}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            ask(told.desk.port, "POST", &format!("/manage/{asked}"), &format!("{head}{body}"))
        };
        assert!(post("nobody").contains(" 401 "), "{asked}");
        let answer = post(&token);
        assert!(answer.contains("HTTP/1.1 20"), "{asked}: {answer}");
        assert_eq!(told.new_rows(), [want], "{asked}");
    }
    told.desk.stop();

    let failed = "00000000-0000-0000-0000-000000000000 desk auth-failed";
    assert_eq!(told.new_rows(), [failed]);
}
