//! The commands of the page on enrolment.

use serde_json::Value;

use crate::docs::{blocks, served};

const PAGE: &str = include_str!("../../../../docs/enrolment.md");

#[test]
fn an_agent_is_invited_by_the_pages_commands() {
    let desk = served();
    let lines = blocks(PAGE, "sh").into_iter().flat_map(str::lines);
    let printed: Vec<_> = lines.map(|line| (line, desk.run(line, &[]))).collect();

    let of = |begin: &str| {
        let found = printed.iter().find(|(line, _)| line.starts_with(begin));
        found.map(|(_, printed)| printed.as_str()).expect("the page has that command")
    };
    let invitation = of("nightdesk gateway token");
    let url = format!("http://127.0.0.1:{}", desk.port);
    for want in [
        format!("export GATEWAY_RELAY_IDP_TOKEN_URL={url}/oauth/token\n"),
        format!(" --connector-url {url} --gateway-id gw-laptop\n"),
        "\nhermes gateway run\n".to_owned(),
        "nightdesk gateway create --tenant acme --agent helper --name gw-laptop".to_owned(),
    ] {
        assert!(invitation.contains(&want), "{want} is not in {invitation}");
    }
    let has_row = |begin: &str, cells: &[&str]| {
        let row = |line: &str| line.split_whitespace().take(cells.len()).eq(cells.iter().copied());
        of(begin).lines().any(row)
    };
    assert!(has_row("nightdesk tenant list", &["acme"]));
    assert!(has_row("nightdesk agent list", &["helper"]));
    assert!(has_row("nightdesk gateway list", &["gw-server", "helper"]));
    assert!(of("nightdesk inbox list").contains("head: 0"));
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let desk = served();
    desk.run("nightdesk tenant create acme", &[]);
    let cases = [
        ("agent list --tenant nobody", "there is no tenant called nobody; `nightdesk tenant list`"),
        ("gateway token --tenant acme --agent owl", "there is no agent called owl"),
        ("inbox show --tenant acme --agent owl --seq 1", "there is no agent called owl"),
        ("gateway revoke --tenant acme --name gw", "no live gateway called gw; `nightdesk gateway"),
    ];

    for (line, want) in cases {
        let said = desk.fails(&format!("nightdesk {line}"));
        assert!(said.contains(want), "{line}: {said}");
    }
    let rows = desk.run("nightdesk tenant list --json", &[]);
    let rows: Value = serde_json::from_str(&rows).expect("JSON");
    assert_eq!(rows[0]["name"], "acme");
}
