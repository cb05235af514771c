//! Upgrades to a line: accepted and refused.

use std::time::{Duration, Instant};

use nightdesk_testdesk::{Heard, TestDesk, TestGateway, upgrade_token_at};

use nightdesk_types::limits::{DIALS_BURST, DIALS_PER_SECOND, UPGRADE_FAILURES_MAX};
use nightdesk_vault::Key;

#[tokio::test]
async fn a_token_nobody_signed_is_refused_and_may_come_again() {
    let desk = TestDesk::open().await;
    let household = desk.household("ann", "gw-1").await;
    let wrong = Key::new("wrong".to_owned());

    let refused = TestGateway::dial(desk.address(), &household.name, &wrong).await;
    assert_eq!(refused.err(), Some(401));
    let unknown = TestGateway::dial(desk.address(), "nobody", &household.secret).await;
    assert_eq!(unknown.err(), Some(401));
    assert_eq!(TestGateway::dial_with(desk.address(), "").await.err(), Some(401));
}

#[tokio::test]
async fn the_door_is_stricter_than_the_codec() {
    let desk = TestDesk::open().await;
    let household = desk.household("ann", "gw-1").await;
    let cases = [
        ("never expires", "gw-1", 0, Some(401)),
        ("a clock a little slow", "gw-1", -55, None),
        ("expired", "gw-1", -65, Some(401)),
        ("a clock a little fast", "gw-1", 655, None),
        ("too far ahead", "gw-1", 665, Some(401)),
        ("a colon in its name", "gw-1:x", 300, Some(401)),
    ];
    for (name, gateway, expires_in, refused) in cases {
        let token = upgrade_token_at(gateway, &household.secret, expires_in);
        let dialled = TestGateway::dial_with(desk.address(), &token).await;
        assert_eq!(dialled.err(), refused, "{name}");
    }
}

#[tokio::test]
async fn failures_of_an_address_never_refuse_a_good_token() {
    let desk = TestDesk::open().await;
    let household = desk.household("ann", "gw-1").await;
    for _ in 0..UPGRADE_FAILURES_MAX {
        assert_eq!(TestGateway::dial_with(desk.address(), "x").await.err(), Some(401));
    }

    assert_eq!(TestGateway::dial_with(desk.address(), "x").await.err(), Some(429));
    let good = TestGateway::dial(desk.address(), &household.name, &household.secret).await;
    assert!(good.is_ok());
}

#[tokio::test]
async fn in_a_herd_a_dial_waits_for_its_place_or_is_told_to_come_again() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let dial = || TestGateway::dial(desk.address(), "gw-1", &ann.secret);
    desk.herd(DIALS_BURST + DIALS_PER_SECOND / 5, Duration::ZERO);

    let began = Instant::now();
    assert!(dial().await.is_ok());
    assert!(began.elapsed() > Duration::from_millis(100), "it had to wait");

    desk.herd(20 * DIALS_PER_SECOND, Duration::from_mins(1));
    assert_eq!(dial().await.err(), Some(503), "its client comes again after that");
}

#[tokio::test]
async fn who_is_not_known_takes_nobodys_place() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    desk.herd(20 * DIALS_PER_SECOND, Duration::from_mins(1));
    let wrong = Key::new("wrong".to_owned());

    let stranger = TestGateway::dial(desk.address(), "gw-1", &wrong).await;
    assert_eq!(stranger.err(), Some(401));
    desk.register.store().revoke(ann.scope, "gw-1").await.expect("revoke");
    let mut revoked = desk.dial(&ann).await;
    revoked.hello("discord").await;
    assert_eq!(revoked.hear().await, Heard::Closed(4401), "a herd does not hide the proof");
}

#[tokio::test]
async fn the_secret_decides_whose_gateway_of_a_name_it_is() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw").await;
    let bob = desk.household("bob", "gw").await;
    desk.says(&ann, "ann", "for-ann").await;
    desk.says(&bob, "bob", "for-bob").await;

    for (household, text) in [(&ann, "for-ann"), (&bob, "for-bob")] {
        let mut gateway = desk.dial(household).await;
        gateway.hello("discord").await;
        gateway.hear_frame("descriptor").await;
        assert_eq!(gateway.hear_frame("inbound").await["event"]["text"], text);
    }
}

#[tokio::test]
async fn a_rotated_gateway_comes_in_with_either_secret() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let rotated = desk.register.rotate(ann.scope, "gw-1", Duration::from_mins(1)).await;
    let new = rotated.expect("rotate").expect("there is such a gateway");

    assert!(TestGateway::dial(desk.address(), "gw-1", &ann.secret).await.is_ok());
    assert!(TestGateway::dial(desk.address(), "gw-1", &new).await.is_ok());
}

#[tokio::test]
async fn a_revoked_gateway_is_told_so_after_its_upgrade() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    desk.register.store().revoke(ann.scope, "gw-1").await.expect("revoke");

    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    assert_eq!(gateway.hear().await, Heard::Closed(4401));
}

#[tokio::test]
async fn a_store_that_is_down_is_never_a_revocation() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    desk.lines_are_down(true);

    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(gateway.hear().await, Heard::Closed(1013));
}
