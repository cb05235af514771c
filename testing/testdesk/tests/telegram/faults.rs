//! Tests F41: no fault of Telegram's polling loses or duplicates an update.

use nightdesk_testkit::cases::begin;

use super::*;

/// A function that makes the fake misbehave.
type Behave = fn(&FakeTelegram);

/// Faults of polling, from F41 and Telegram's documentation.
const FAULTS: [(&str, Behave); 9] = [
    ("another polls", |fake| {
        let words = "Conflict: terminated by other getUpdates request";
        fake.misbehave(Fault::refuse("getUpdates", 1, 409, words));
    }),
    ("too often", |fake| fake.misbehave(Fault::too_many("getUpdates", 1, 1))),
    ("is gone", |fake| fake.misbehave(Fault::at("getUpdates", 1, Kind::HangUp))),
    ("its answer is lost", |fake| fake.misbehave(Fault::at("getUpdates", 1, Kind::DoAndHangUp))),
    ("falls silent", |fake| {
        fake.misbehave(Fault::at("getUpdates", 1, Kind::Silence(Duration::from_secs(1))));
    }),
    ("talks nonsense", |fake| fake.misbehave(Fault::at("getUpdates", 1, Kind::Garbage))),
    ("tells it again", |fake| fake.misbehave(Fault::at("getUpdates", 2, Kind::Repeat))),
    ("numbers jump ahead", |fake| fake.renumber(TOKEN, 1_000_000)),
    ("numbers begin anew", |fake| fake.renumber(TOKEN, 2)),
];

// F41
#[tokio::test]
async fn nothing_is_lost_or_doubled_whatever_telegram_does() {
    let stage = stage(json!({})).await;
    stage.desk.listen();
    let mut said = 0;
    for (name, behave) in FAULTS {
        let case = begin("telegram", "fault", name);
        behave(&stage.fake);
        // The fault does not hit a poll in progress, so the second round is the decisive one.
        for _ in 0..2 {
            stage.says(said..said + 5);
            said += 5;
            stage.has(said).await;
        }
        case.passed();
    }
}
