//! `nightdesk doctor`, of a desk that serves and of a configuration.

use serde_json::Value;

use crate::desk::Desk;

const CONFIG: &str = r#"
[listen]
address = "127.0.0.1:8800"

[database]
url = "postgres://nightdesk_app@127.0.0.1:5432/nightdesk"
migrate_url = "postgres://postgres@127.0.0.1:5432/nightdesk"

[vault]
key_file = "vault.key"
"#;

/// Drops tomorrow's partitions of the inbox.
const LOSE_TOMORROW: &str = "do $$ declare d record; begin
     for d in select name from stored_days()
         where parent = 'inbox_entries' and day > (now() at time zone 'utc')::date
     loop execute format('drop table %I', d.name); end loop; end $$";

/// Returns the findings of a check.
fn found<'r>(report: &'r Value, check: &str) -> Vec<&'r Value> {
    let findings = report["findings"].as_array().expect("a list").iter();
    findings.filter(|finding| finding["check"] == check).collect()
}

fn report(output: &str) -> Value {
    let json = output.lines().find(|line| line.starts_with('{'));
    serde_json::from_str(json.expect("a line of JSON")).expect("a report")
}

#[test]
fn a_doctor_repairs_what_it_can_and_fails_while_a_fault_remains() {
    let mut desk = Desk::migrated(CONFIG);
    desk.serve();
    let well = report(&desk.run("nightdesk doctor --json", &[]));
    assert_eq!(well["faults"], 0, "{well}");
    for check in ["key-files", "database", "vault", "database-role", "clock", "public-url"] {
        assert_eq!(found(&well, check)[0]["severity"], "ok", "{check}: {well}");
    }

    desk.sql(LOSE_TOMORROW);
    desk.run("chmod 644 vault.key", &[]);
    let sick = report(&desk.fails("nightdesk doctor --json"));
    assert_eq!(sick["faults"], 2, "{sick}");
    assert!(desk.fails("nightdesk doctor").contains("next: run `nightdesk doctor --fix`"));

    let repaired = report(&desk.run("nightdesk doctor --fix --json", &[]));
    for check in ["key-files", "retention"] {
        assert_eq!(found(&repaired, check)[0]["fixed"], true, "{check}: {repaired}");
    }
    assert!(desk.run("stat -c %a vault.key", &[]).starts_with("600"));
    assert_eq!(report(&desk.run("nightdesk doctor --json", &[]))["faults"], 0);
    desk.stop();
}

#[test]
fn a_local_doctor_needs_no_desk_that_serves() {
    let desk = Desk::configured(CONFIG);
    desk.run("nightdesk key new > vault.key && chmod 400 vault.key", &[]);
    let asked = desk.fails("nightdesk doctor --desk http://127.0.0.1:9");
    assert!(asked.contains("nightdesk doctor --local"), "{asked}");
    let sick = report(&desk.fails("nightdesk doctor --local --json"));
    let missing = found(&sick, "database")[0]["text"].as_str().expect("a text");
    assert!(missing.contains("run `nightdesk migrate`"), "{sick}");

    desk.run("nightdesk migrate", &[]);
    let well = report(&desk.run("nightdesk doctor --local --json", &[]));
    assert_eq!(well["faults"], 0, "{well}");
    assert!(found(&well, "public-url").is_empty(), "no node answers");
    assert_eq!(found(&well, "configuration")[0]["severity"], "ok", "{well}");
}
