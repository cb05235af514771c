//! F41: whatever Telegram does to who asks it, nothing is lost or doubled.

use nightdesk_testkit::cases::begin;

use super::*;

/// How the fake is made to do something.
type Behave = fn(&FakeTelegram);

/// What Telegram may do to who asks it, as F41 has it and its documentation.
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
        // A poll that is under way is not struck, so the second time tells.
        for _ in 0..2 {
            stage.says(said..said + 5);
            said += 5;
            stage.has(said).await;
        }
        case.passed();
    }
}
