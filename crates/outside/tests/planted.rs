//! With the mistake planted that a resolver is all of the guard, honeypots are visited: so they
//! can be.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "honeypots/world.rs"]
mod world;

use std::net::{IpAddr, SocketAddr};

use nightdesk_outside::{Call, Method, Outside, Rules, TenantUrl};
use nightdesk_types::TenantId;
use nightdesk_types::planted::plant;
use uuid::Uuid;

use crate::world::World;

/// The spellings with which a well-known client was seen to get past its resolver.
const SEEN: [&str; 6] =
    ["127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0177.0.0.1", "127.1"];

#[test]
fn addresses_that_skip_the_guard_reach_honeypots() {
    world::enter("addresses_that_skip_the_guard_reach_honeypots", async |world: World| {
        assert!(plant("X16"), "it is the first bug here");
        // Nobody is asked: an address needs no look-up, which is the mistake.
        let nameserver = SocketAddr::from(([127, 0, 0, 1], 9));
        let rules = Rules { nameserver: Some(nameserver), ..Rules::default() };
        let outside = Outside::new(rules).expect("good rules");
        for (number, host) in SEEN.iter().enumerate() {
            let text = format!("https://{host}/");
            let url = TenantUrl::parse(&text, outside.rules()).expect("the bug lets it pass");
            let tenant = TenantId::from_uuid(Uuid::from_u128(number as u128));
            let call = Call { url: &url, method: Method::Get, bearer: None, body: None };
            outside.call(tenant, call).await.expect_err("honeypots hang up");
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
        let loopback: IpAddr = "127.0.0.1".parse().expect("an address");
        assert_eq!(world.visits(), [loopback; 6]);
    });
}
