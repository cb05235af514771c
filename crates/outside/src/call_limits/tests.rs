//! Rates on stopped time.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::advance;
use uuid::Uuid;

use super::*;

fn tenant(number: u128) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(number))
}

fn usual() -> CallLimits {
    CallLimits::new(&BTreeMap::new(), CALL_RATES)
}

#[tokio::test(start_paused = true)]
async fn a_host_is_called_once_a_second_by_all_tenants_together() {
    let pace = usual();
    assert!(pace.enter(tenant(1), "a.example").is_ok());

    let wait = pace.enter(tenant(2), "a.example").unwrap_err();
    assert_eq!(wait, Duration::from_secs(1));
    assert!(pace.enter(tenant(2), "b.example").is_ok(), "another host is not held up");

    advance(wait).await;
    assert!(pace.enter(tenant(2), "a.example").is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_host_is_called_sixty_times_a_minute_however_often_it_is_tried() {
    let pace = usual();
    let mut calls = 0;
    for _ in 0..120 {
        calls += (0..1_000).filter(|agent| pace.enter(tenant(*agent), "a.example").is_ok()).count();
        advance(Duration::from_millis(500)).await;
    }

    assert_eq!(calls, 60);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_calls_ten_hosts_a_second() {
    let pace = usual();
    let try_all = |from: u32| {
        (from..from + 100)
            .filter(|host| pace.enter(tenant(1), &format!("{host}.example")).is_ok())
            .count()
    };

    assert_eq!(try_all(0), 10);
    assert!(pace.enter(tenant(2), "x.example").is_ok(), "another tenant is not held up");
    advance(Duration::from_secs(1)).await;
    assert_eq!(try_all(200), 10);
}

#[tokio::test(start_paused = true)]
async fn agents_that_wait_for_a_busy_host_use_up_nothing_of_their_tenants() {
    let pace = usual();
    for _ in 0..100 {
        drop(pace.enter(tenant(1), "busy.example"));
    }

    let others = (0..100).filter(|host| pace.enter(tenant(1), &format!("{host}.example")).is_ok());
    assert_eq!(others.count(), 9);
}

#[tokio::test(start_paused = true)]
async fn an_address_is_dialled_twenty_times_a_second_whatever_its_names() {
    let pace = usual();
    let dials = |address: &str| {
        let address = address.parse().unwrap();
        (0..100).filter(|host| pace.dial(&format!("{host}.example"), address).is_ok()).count()
    };

    assert_eq!(dials("93.184.216.34"), 20);
    assert_eq!(dials("93.184.216.35"), 20);
    assert_eq!(dials("2606:4700::1"), 20);
    assert_eq!(dials("2606:4700::2"), 0, "one machine has all of its /64");
}

#[tokio::test(start_paused = true)]
async fn a_tenant_has_four_calls_under_way() {
    let pace = usual();
    let hosts = (0..100).map(|host| format!("{host}.example"));
    let held: Vec<_> = hosts.map_while(|host| pace.enter(tenant(1), &host).ok()).collect();

    assert_eq!(held.len(), 4);
    assert_eq!(pace.enter(tenant(1), "x.example").unwrap_err(), OUTSIDE_NO_ROOM_WAIT);
    drop(held);
    assert!(pace.enter(tenant(1), "x.example").is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_the_operator_raised_stands_in_place_of_every_other_rate() {
    let fifty = NonZeroU32::new(50).unwrap();
    let raised = HostRate { per_second: fifty, at_once: fifty };
    let pace = CallLimits::new(&BTreeMap::from([("big.example".to_owned(), raised)]), CALL_RATES);
    let address = "93.184.216.34".parse().unwrap();

    let held: Vec<_> = (0..100).filter_map(|_| pace.enter(tenant(1), "big.example").ok()).collect();
    assert_eq!(held.len(), 50);
    assert!((0..100).all(|_| pace.dial("big.example", address).is_ok()));
    assert!(pace.enter(tenant(1), "small.example").is_ok(), "its calls take no other's place");
    drop(held);
    assert!(pace.enter(tenant(2), "big.example").is_err(), "of all tenants together");
    advance(Duration::from_secs(1)).await;
    assert!(pace.enter(tenant(2), "big.example").is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_the_operator_trusts_takes_the_logins_of_many_people_at_once() {
    let pace = CallLimits::new(&BTreeMap::new(), TRUSTED_RATES);
    let address = "93.184.216.34".parse().unwrap();
    let made = || {
        let entered = (0..100).filter(|_| pace.enter(tenant(0), "login.example").is_ok()).count();
        let dialled = (0..100).filter(|_| pace.dial("login.example", address).is_ok()).count();
        (entered, dialled)
    };

    assert_eq!(made(), (50, 50));
    advance(Duration::from_secs(1)).await;
    assert_eq!(made(), (50, 50));
}
