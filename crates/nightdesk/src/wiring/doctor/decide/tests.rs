use nightdesk_office::FindingSeverity;
use nightdesk_store_pg::Replication;

use super::*;

const OK: FindingSeverity = FindingSeverity::Ok;
const ADVICE: FindingSeverity = FindingSeverity::Advice;
const FAULT: FindingSeverity = FindingSeverity::Fault;

/// Checks the severity and the text of a finding, and that it has a next step unless all is well.
fn expect(name: &str, finding: &DoctorFinding, severity: FindingSeverity, text: &str) {
    assert_eq!(finding.severity, severity, "{name}: {finding:?}");
    assert!(finding.text.contains(text), "{name}: {finding:?}");
    assert_eq!(finding.next_step.is_some(), severity != OK, "{name}: {finding:?}");
    assert!(!finding.fixed, "{name}");
}

#[test]
fn durable_commits_need_nothing() {
    let kept = DurabilityReport::Kept(Replication::Asynchronous);
    expect("kept", &judge_durability(&kept), OK, "asynchronous replication");
}

#[test]
fn only_a_role_within_the_walls_is_right() {
    let rights = |bypasses_walls, owns_tables, runs_functions| LoginRights {
        role: "app".to_owned(),
        bypasses_walls,
        owns_tables,
        runs_functions,
    };
    let cases = [
        ("the desk's role", rights(false, false, true), OK, "as app, which owns nothing"),
        ("a superuser", rights(true, true, true), FAULT, "does not bind it"),
        ("the doors' role", rights(true, false, true), FAULT, "does not bind it"),
        ("the owner", rights(false, true, true), FAULT, "change and drop"),
        ("a stranger", rights(false, false, false), FAULT, "may not run"),
    ];
    for (name, rights, severity, text) in cases {
        expect(name, &judge_login(&rights), severity, text);
    }
}

/// Returns the partitions of these days.
fn partitions(days: std::ops::RangeInclusive<i32>) -> Vec<StoredDay> {
    let of = |table: &'static str| {
        days.clone().map(move |days_ahead| StoredDay { table: table.to_owned(), days_ahead })
    };
    DAILY_TABLES.into_iter().flat_map(of).collect()
}

#[test]
fn a_missing_partition_is_a_fault_and_an_old_one_is_told() {
    let usual = partitions(-OLD_DAYS..=2);
    let mut lost = usual.clone();
    lost.retain(|day| day.table != "inbox_acks" || day.days_ahead != 1);
    let cases = [
        ("all days", usual, OK, "have their partitions"),
        ("a new desk", partitions(-1..=2), OK, "4 days"),
        ("before the upkeep of the day", partitions(-1..=1), OK, "3 days"),
        ("tomorrow is lost", lost, FAULT, "no partition for inbox_acks of tomorrow"),
        ("upkeep stands still", partitions(-3..=0), FAULT, "inbox_entries of tomorrow"),
        ("yesterday is lost", partitions(0..=2), FAULT, "dedupe_keys of yesterday"),
        ("none", Vec::new(), FAULT, "inbox_entries of today"),
        ("an old day", partitions(-OLD_DAYS - 1..=2), ADVICE, "days old"),
    ];
    for (name, days, severity, text) in cases {
        expect(name, &judge_partitions(&days), severity, text);
    }
}

#[test]
fn an_archive_that_stands_still_is_told() {
    let within = i64::try_from(ARCHIVED_WITHIN.as_secs()).unwrap();
    let archive =
        |is_on, is_failing, archived_secs_ago| LogArchive { is_on, archived_secs_ago, is_failing };
    let cases = [
        ("off", archive(false, false, None), ADVICE, "knows of no backup"),
        ("off since a while", archive(false, true, Some(9)), ADVICE, "knows of no backup"),
        ("new", archive(true, false, None), ADVICE, "not archived its log yet"),
        ("recent", archive(true, false, Some(150)), OK, "2 min ago"),
        ("at the limit", archive(true, false, Some(within)), OK, "min ago"),
        ("past it", archive(true, false, Some(within + 3_600)), ADVICE, "27 hours ago"),
        ("failing", archive(true, true, Some(150)), FAULT, "cannot archive"),
        ("failing from the start", archive(true, true, None), FAULT, "cannot archive"),
        ("a clock that went back", archive(true, false, Some(-5)), OK, "0 min ago"),
    ];
    for (name, archive, severity, text) in cases {
        expect(name, &judge_archive(&archive), severity, text);
    }
}

#[test]
fn a_certificate_is_for_the_public_host_and_renewed_in_time() {
    let now = Timestamp::from_second(1_800_000_000).unwrap();
    let facts = |is_for_host, days: u64| CertificateFacts {
        host: "desk.example",
        is_for_host,
        expires_at: now + Duration::from_hours(24 * days),
    };
    let cases = [
        ("right", facts(true, 60), OK, "valid for 60 days"),
        ("at the limit", facts(true, 14), OK, "valid for 14 days"),
        ("nearly over", facts(true, 13), ADVICE, "expires in 13 days"),
        ("of another host", facts(false, 60), FAULT, "not for desk.example"),
    ];
    for (name, facts, severity, text) in cases {
        expect(name, &judge_certificate(facts, now), severity, text);
    }
}

#[test]
fn a_public_url_leads_here_or_is_a_fault() {
    let missing = PublicUrlResponse::Missing("the host cannot be reached".to_owned());
    let cases = [
        ("here", "desk.example", PublicUrlResponse::Own, OK, "leads here"),
        ("a trial", "127.0.0.1", PublicUrlResponse::Own, OK, "this machine only"),
        ("another desk", "desk.example", PublicUrlResponse::Foreign(404), FAULT, "status 404"),
        ("nothing there", "desk.example", missing, FAULT, "cannot be reached"),
    ];
    for (name, host, response, severity, text) in cases {
        let url = format!("https://{host}");
        expect(name, &judge_public_url(&url, host, &response), severity, text);
    }
}

#[test]
fn a_disk_that_is_nearly_full_is_named() {
    let disk = |folder: &str, free_bytes| DiskSpace { folder: folder.to_owned(), free_bytes };
    let roomy = disk("media", DISK_FREE_BYTES_LOW);

    expect("none", &judge_disks(&[])[0], OK, "no folder");
    expect("roomy", &judge_disks(std::slice::from_ref(&roomy))[0], OK, "1024 MiB");
    let low = judge_disks(&[
        roomy,
        disk("audit", DISK_FREE_BYTES_LOW - 1),
        disk("full", DISK_FREE_BYTES_MIN - 1),
    ]);
    assert_eq!(low.len(), 2);
    expect("low", &low[0], ADVICE, "the disk of audit has 1023 MiB left");
    expect("full", &low[1], FAULT, "the disk of full has 127 MiB left");
}
