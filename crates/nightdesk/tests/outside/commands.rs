//! Runs every command once and checks that its answer is readable by a program and that its help has an example.

use serde_json::Value;

use crate::desk::{Desk, ask, wait_until};
use crate::telegram::Fake;
use crate::waking::{asleep, target, wake_url};
use crate::webchat::written;

/// Commands that run until they are stopped or until an agent woke, and the test file that runs each.
const ELSEWHERE: [(&str, &str); 5] = [
    ("serve", include_str!("desk.rs")),
    ("login", include_str!("desk.rs")),
    ("dev", include_str!("dev.rs")),
    ("verify", include_str!("waking.rs")),
    ("conformance agent", include_str!("agent_trial.rs")),
];

const ISSUER: &str = "[[issuers]]\nurl = \"https://login.example.org\"\naudience = \"nightdesk\"\n\
    jwks_url = \"https://login.example.org/jwks.json\"\ntenant_claim = \"tid\"\n";

const WHOSE: &str = "--tenant acme --agent helper";

/// An operator, and the commands that were run.
struct Operator {
    desk: Desk,
    ran: Vec<String>,
}

impl Operator {
    /// Runs a command as a program does. Returns the parsed answer.
    fn asks(&mut self, line: &str) -> Value {
        self.asks_with(line, &[])
    }

    /// Runs a command with these variables in its environment.
    fn asks_with(&mut self, line: &str, variables: &[(&str, String)]) -> Value {
        let said = self.desk.run(&format!("nightdesk {line} --json"), variables);
        self.ran.push(line.to_owned());
        let read = serde_json::from_str(&said);
        assert!(read.is_ok(), "{line} --json says {said}");
        read.unwrap_or_default()
    }

    fn has_run(&self, command: &str) -> bool {
        self.ran.iter().any(|line| format!("{line} ").starts_with(&format!("{command} ")))
    }
}

/// Returns the commands under one, as its help lists them, each with its own help.
fn commands(desk: &Desk, path: &str) -> Vec<(String, String)> {
    let help = desk.run(&format!("nightdesk {path} --help"), &[]);
    let section = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    let Some(section) = section else { return vec![(path.trim().to_owned(), help)] };
    // A line with a deeper indentation continues the previous line.
    let names = section.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let below =
        names.filter(|name| !["", "help"].contains(name)).map(|name| format!("{path} {name}"));
    below.flat_map(|path| commands(desk, path.trim())).collect()
}

#[test]
fn every_command_is_run_and_has_an_example() {
    let (port, _called) = target("200 OK");
    let telegram = Fake::open();
    let (desk, entered, path) = asleep(port, &[ISSUER, &telegram.section()].concat());
    Fake::key_file(&desk);
    let all = commands(&desk, "");
    assert!(all.len() > 30, "the help lists them: {all:?}");
    for (command, help) in &all {
        assert!(help.contains(&format!("Example:\n  nightdesk {command}")), "{command}: {help}");
    }

    let mut operator = Operator { desk, ran: Vec::new() };
    operator.asks(wake_url(port).trim_start_matches("nightdesk "));
    the_desk_itself(&mut operator);
    webhooks(&mut operator);
    agents_that_sleep(&mut operator, &path);
    jobs(&mut operator);
    letters(&mut operator);
    shelves(&mut operator);
    people(&mut operator, entered.get("BOT"));
    bots(&mut operator);
    gateways(&mut operator);
    issuers(&mut operator);
    users(&mut operator);
    alerts(&mut operator, port);
    tenants(&mut operator);
    assert_eq!(operator.asks("logout")["revoked"], true);
    for (command, _) in &all {
        let elsewhere = ELSEWHERE.iter().find(|(other, _)| other == command);
        let is_run = elsewhere.map_or_else(
            || operator.has_run(command),
            |(_, file)| file.contains(&format!("nightdesk {command}")),
        );
        assert!(is_run, "nothing runs `nightdesk {command}`");
    }
    operator.desk.stop();
}

fn the_desk_itself(operator: &mut Operator) {
    operator.asks("config check");
    let report = operator.asks("doctor");
    assert_eq!(report["faults"], 0, "{report}");
    assert_eq!(operator.asks("migrate")["up_to_date"], true);
    assert!(operator.asks("key new")["key"].is_string());
    operator.asks("key rotate");
    assert!(operator.asks("history new --reason snapshot")["incarnation"].is_i64());
}

fn webhooks(operator: &mut Operator) {
    let mut set = || operator.asks(&format!("agent webhook {WHOSE} https://agents.example/helper"));
    let (first, second) = (set(), set());
    assert!(first["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")), "{first}");
    assert_ne!(first["secret"], second["secret"], "each setting has a new secret");
    let shown = operator.asks(&format!("agent webhook {WHOSE}"));
    assert_eq!((&shown["url"], &shown["secret"]), (&second["url"], &Value::Null), "{shown}");
    assert!(operator.asks(&format!("agent webhook {WHOSE} --clear"))["url"].is_null());
}

fn agents_that_sleep(operator: &mut Operator, page: &str) {
    let called = operator.asks(&format!("wake call {WHOSE}"));
    assert!(called["outcome"].as_str().is_some_and(|words| words.contains("200")), "{called}");
    let status = operator.asks(&format!("wake status {WHOSE}"));
    assert_eq!((&status["agent"], &status["line"]), (&"helper".into(), &"none".into()), "{status}");
    assert!(operator.asks("notice list --tenant acme").is_array());
    operator.asks(&format!("agent let-stop {WHOSE}"));
    let stopped = operator.asks(&format!("agent stop {WHOSE} --platform webchat --chat 4711"));
    assert_eq!(stopped["outcome"], "undelivered", "it has no line: {stopped}");

    assert!(written(&operator.desk, page, "hello").contains("200 OK"));
    let listed = operator.asks(&format!("inbox list {WHOSE}"));
    assert_eq!(listed["head"], 1, "{listed}");
    operator.asks(&format!("inbox show {WHOSE} --seq 1"));
    operator.asks(&format!("inbox park {WHOSE} --seq 1"));
    let again = operator.asks(&format!("inbox resubmit {WHOSE} --seq 1"));
    assert_eq!(operator.asks(&format!("inbox list {WHOSE}"))["head"], 2, "{again}");
    operator.asks(&format!("inbox park {WHOSE} --seq 2"));
    assert_eq!(operator.asks(&format!("inbox drop {WHOSE} --seq 2 --yes"))["dropped"], 2);
}

fn jobs(operator: &mut Operator) {
    let added = operator.asks(&format!(
        "schedule add {WHOSE} later --at 2096-12-24T18:00 --zone Europe/Berlin --say hello"
    ));
    assert_eq!(added["due"], "2096-12-24T18:00:00+01:00", "{added}");
    let listed = operator.asks("schedule list --tenant acme --zone UTC");
    assert_eq!(listed[0]["due"], "2096-12-24T17:00:00+00:00", "{listed}");
    let shown = operator.asks(&format!("schedule show {WHOSE} later"));
    assert_eq!(shown["state"], "armed", "{shown}");
    assert!(shown["words"].is_null(), "an operator reads no text: {shown}");
    assert_eq!(operator.asks(&format!("schedule cancel {WHOSE} later"))["cancelled"], true);
    operator.asks(&format!("schedule fire-now {WHOSE} later"));
    wait_until("the agent is told", || {
        let fires = operator.asks(&format!("schedule history {WHOSE} --job later"));
        fires[0]["state"] == "fired" && fires.as_array().is_some_and(|fires| fires.len() == 1)
    });
}

fn letters(operator: &mut Operator) {
    operator.asks("agent create --tenant acme scribe");
    operator.asks("tenant create gamma");
    operator.asks("agent create --tenant gamma owl");
    let sent = operator.asks(&format!("letter send {WHOSE} scribe hello --dispatch-id d1"));
    assert_eq!((&sent["state"], &sent["hop"]), (&"put".into(), &1.into()), "{sent}");
    let again = operator.asks(&format!("letter send {WHOSE} scribe hello --dispatch-id d1"));
    assert_eq!(again["letter_id"], sent["letter_id"]);
    let silent = operator.asks(&format!("letter send {WHOSE} scribe anybody? --wait 1s"));
    assert_eq!(silent["state"], "timed-out", "{silent}");
    let listed = operator.asks(&format!("letter list {WHOSE}"));
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    let id = sent["letter_id"].as_str().expect("an id");
    assert_eq!(operator.asks(&format!("letter show {WHOSE} {id}"))["dispatch_id"], "d1");

    let hook = operator.asks(&format!("letter hook {WHOSE} runtime"));
    assert!(hook["wake_url"].as_str().is_some_and(|url| url.ends_with("/wake")), "{hook}");
    assert_eq!(operator.asks("letter hooks --tenant acme")[0]["name"], "runtime");
    assert_eq!(operator.asks("letter unhook --tenant acme runtime")["removed"], true);
    let between = format!("{WHOSE} --peer-tenant gamma --peer-agent owl");
    assert_eq!(operator.asks(&format!("grant letters {between}"))["granted"], true);
    let grants = operator.asks("grant list-letters --tenant acme");
    assert_eq!(grants[0]["both_sides"], false, "{grants}");
    assert_eq!(operator.asks(&format!("grant no-letters {between}"))["granted"], false);
}

fn shelves(operator: &mut Operator) {
    operator.desk.run("printf '# Status: Draft\\nt:\\n' > brief.skill.md", &[]);
    operator.asks("skill key --out approval.key");
    let secured = operator.asks("skill secure --tenant acme --public-key approval.key.pub");
    assert_eq!(secured["secured"], true);
    let of = "--tenant acme brief";
    let written = operator.asks(&format!("skill write {of} --file brief.skill.md"));
    let by = written["changed_by"].as_str().expect("a writer");
    assert!(by.starts_with("token:"), "{written}");
    let approved = operator.asks(&format!("skill approve {of} --key-file approval.key"));
    assert_eq!(approved["previous_status"], "Draft", "{approved}");
    assert_eq!(operator.asks(&format!("skill verify {of}"))["may_run"], true);
    assert_eq!(operator.asks("skill list --tenant acme")[0]["status"], "Approved");
    assert_eq!(operator.asks(&format!("skill status {of} Disabled"))["status"], "Disabled");
    let shown = operator.asks(&format!("skill show {of}"));
    assert_eq!(shown["source"], "# Status: Disabled\nt:\n", "{shown}");
    let past = operator.asks(&format!("skill history {of}"));
    assert_eq!(past.as_array().map(Vec::len), Some(3), "{past}");
    assert_eq!(operator.asks(&format!("skill delete {of} --yes"))["deleted"], true);

    let entry = operator.asks("data write --tenant acme kettle --tag a --wanted-for 24h");
    let found = operator.asks("data query --tenant acme kettle --limit 1");
    assert_eq!(found[0]["id"], entry["id"], "{found}");
    let id = entry["id"].as_str().unwrap_or_default();
    let read = operator.asks(&format!("data read --tenant acme {id}"));
    assert!(read["expires_at"].is_i64(), "{read}");
}

fn people(operator: &mut Operator, bot: &str) {
    let on = format!("{WHOSE} --bot {bot}");
    for verb in ["create", "prefer", "remove"] {
        let bound = operator.asks(&format!("binding {verb} {on} --author 4711"));
        assert_eq!(bound["author"], "4711");
    }
    // Telegram groups have such ids.
    for verb in ["create", "moderate", "remove"] {
        assert_eq!(operator.asks(&format!("grant {verb} {on} --chat -99"))["chat"], "-99");
    }
    let code = operator.asks(&format!("link create {WHOSE}"));
    assert!(code["say"].as_str().is_some_and(|say| say.starts_with("/link ")), "{code}");
    let dry = operator.asks(&format!("explain --dry-run --bot {bot} --author 1 --chat -2"));
    assert!(dry.is_object(), "{dry}");
    assert_eq!(operator.asks(&format!("agent reach {WHOSE}"))["people"], Value::Array(vec![]));
}

fn bots(operator: &mut Operator) {
    let made = operator.asks("bot create --tenant acme --platform webchat --handle second");
    let bot = made["bot_id"].as_str().expect("its id").to_owned();
    operator.desk.run("nightdesk key new > bot.key", &[]);
    let whose = format!("--tenant acme --bot {bot}");
    operator.asks(&format!("bot rotate-key {whose} --key-file bot.key"));
    assert_eq!(operator.asks(&format!("bot share {whose}"))["shared"], true);
    let connected =
        operator.asks("bot connect telegram --tenant acme --key-file telegram.key --test-chat 7");
    assert_eq!(connected["handle"], "desk_bot", "{connected}");
    let test = connected["test"].as_str().expect("it was tried");
    assert!(test.contains("chat_not_found") && test.contains("write to the bot"), "{test}");
    let connected =
        format!("--tenant acme --bot {}", connected["bot_id"].as_str().expect("its id"));
    let checked = operator.asks(&format!("bot check {connected}"));
    assert_eq!(checked["wrong"], Value::Array(vec![]), "{checked}");
    assert_eq!(operator.asks(&format!("bot remove {connected} --yes"))["removed"], true);
    let open = operator.asks("bot list --tenant acme");
    let listed = open.as_array().expect("a list");
    assert!(listed.iter().any(|one| one["bot_id"] == bot.as_str()), "{open}");
}

fn gateways(operator: &mut Operator) {
    let invited = operator.asks(&format!("gateway token {WHOSE} --name gw-2"));
    assert!(invited["client_secret"].is_string(), "{invited}");
    let made = operator.asks(&format!("gateway create {WHOSE} --name gw-2"));
    let which = "--tenant acme --name gw-2";
    let rotated = operator.asks(&format!("gateway rotate {which} --overlap 1h"));
    assert_ne!(rotated["secret"], made["secret"]);
    assert_eq!(operator.asks(&format!("gateway show {which}")), Value::Array(vec![]));
    let unknown = operator.desk.fails("nightdesk gateway show --tenant acme --name nobody");
    assert!(unknown.contains("no live gateway called nobody"), "{unknown}");
    assert_eq!(operator.asks(&format!("gateway revoke {which}"))["revoked"], true);
    assert!(operator.asks("gateway list --tenant acme").is_array());
}

fn issuers(operator: &mut Operator) {
    let token = operator.asks(&format!("issuer token {WHOSE}"));
    let bearer = format!("authorization: Bearer {}\r\n\r\n", token["token"].as_str().expect("it"));
    let shown = ask(operator.desk.port, "GET", "/manage", &bearer);
    assert!(shown.contains("200 OK"), "{shown}");

    let begun = operator.asks(&format!("issuer session {WHOSE}"));
    let session = begun["session"].as_str().expect("its id").to_owned();
    assert_eq!(operator.asks(&format!("issuer end --tenant acme {session}"))["ended"], true);
    let of = "--issuer https://login.example.org";
    assert_eq!(operator.asks(&format!("issuer bind {WHOSE} {of} s-1"))["session"], "s-1");
    let again = operator.desk.fails(&format!("nightdesk issuer bind {WHOSE} --issuer x s-1"));
    assert!(again.contains("is not a trusted issuer"), "{again}");

    let keys = operator.asks("issuer keys");
    let kid = keys[0]["kid"].as_str().expect("its name").to_owned();
    assert_eq!(operator.asks(&format!("issuer retire {kid}"))["retired"], true);
    // Every sixty-fourth key name begins with a dash.
    let unknown = operator.desk.fails("nightdesk issuer retire -nobody");
    assert!(unknown.contains("there is no key called -nobody"), "{unknown}");
    let keys = operator.asks("issuer keys");
    let live = keys.as_array().expect("a list").iter().filter(|key| key["retired"] == false);
    assert_eq!(live.count(), keys.as_array().map_or(0, |keys| keys.len() - 1), "{keys}");
    let another = operator.asks(&format!("issuer token {WHOSE}"));
    assert_ne!(another["token"], token["token"], "another key signs at once");
}

fn users(operator: &mut Operator) {
    let me = operator.asks("whoami");
    assert_eq!(me["roles"][0]["role"], "operator", "{me}");
    let ann = operator.asks("user create Ann --tenant acme --role member");
    let ann = ann["user_id"].as_str().expect("its id").to_owned();
    assert_eq!(operator.asks("user list --tenant acme")[0]["user_id"], ann.as_str());
    let roles = operator.asks(&format!("user role {ann} auditor --tenant acme"));
    assert_eq!(roles["roles"].as_array().map(Vec::len), Some(2), "{roles}");
    let link = operator.asks(&format!("user link {ann}"));
    assert!(link["url"].as_str().is_some_and(|url| url.contains("/login?code=")), "{link}");
    operator.asks(&format!("user logout {ann}"));

    let made = operator.asks("token create backup --right read --days 1");
    let token = made["token_id"].as_str().expect("its id").to_owned();
    assert!(operator.asks("token list").to_string().contains(&token));
    assert_eq!(operator.asks(&format!("token revoke {token}"))["revoked"], true);

    let other = [("NIGHTDESK_CREDENTIALS", "other.json".to_owned())];
    let link = operator.asks("admin link --name Other")["url"].as_str().expect("it").to_owned();
    operator.desk.run(&format!("nightdesk login --link '{link}'"), &other);
    let asked = operator.asks("glass ask --tenant acme --reason 'ticket 7'");
    let request = asked["request_id"].as_str().expect("its id").to_owned();
    let approved = operator.asks_with(&format!("glass approve {request}"), &other);
    assert_eq!(approved["state"], "open", "{approved}");
    assert_eq!(operator.asks("glass list --tenant acme")[0]["request_id"], request.as_str());
    operator.asks(&format!("glass end {request}"));
}

fn alerts(operator: &mut Operator, port: u16) {
    let url = format!("http://127.0.0.1:{port}/alerts");
    let way = operator.asks(&format!("alert way add --tenant acme --webhook {url}"));
    let way = way["way_id"].as_str().expect("the way's id").to_owned();
    operator.asks(&format!("alert test {way} --tenant acme"));
    let listed = operator.asks("alert way list --tenant acme");
    assert_eq!((&listed[0]["target"], &listed[0]["failure"]), (&url.into(), &Value::Null));
    assert!(operator.asks("alert list").is_array());
    operator.asks(&format!("alert way remove {way} --tenant acme"));
}

fn tenants(operator: &mut Operator) {
    operator.asks("tenant create other");
    operator.asks("agent create --tenant other owl");
    assert_eq!(operator.asks("agent list --tenant other")[0]["name"], "owl");
    assert_eq!(operator.asks("tenant list").as_array().map(Vec::len), Some(3));
    operator.asks("tenant rotate-key acme");
    let trusting = operator.asks("tenant trust-gateways --tenant acme");
    assert_eq!(trusting["gateways_may_widen"], true);
    operator.asks("tenant quota --tenant acme agents=100");
    assert!(operator.asks("audit list --tenant acme").is_array());
    operator.asks("audit verify");
    operator.asks("tenant erase other --yes");
    let taken = operator.asks(&format!("agent deprovision {WHOSE}"));
    assert!(taken["gateways_revoked"].is_number(), "{taken}");
}
