//! A network in which every address answers, so that a forbidden call is detected.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "calls/name_server.rs"]
mod name_server;
#[path = "honeypots/world.rs"]
mod world;
#[path = "honeypots/hostile.rs"]
mod hostile;

use std::net::IpAddr;

use nightdesk_outside::{
    CallError, CallResponse, Method, Outside, OutsideCall, Rules, TenantUrl, UrlRefusal,
};
use nightdesk_types::TenantId;
use uuid::Uuid;

use crate::name_server::{Answer, NameServer};
use crate::world::World;

/// A public address. In this network it belongs to the test, as any other.
const PUBLIC: &str = "93.184.216.34";

const NOBODY: [IpAddr; 0] = [];

/// Makes a call under its own tenant, so that no rate limit applies before the guard.
async fn call(
    outside: &Outside,
    url: &TenantUrl,
    number: usize,
) -> Result<CallResponse, CallError> {
    let tenant = TenantId::from_uuid(Uuid::from_u128(number as u128));
    let call = OutsideCall { url, method: Method::Get, bearer: None, signature: None, body: None };
    outside.call(tenant, call).await
}

/// Returns rules under which every URL can be parsed, so that the call itself has to refuse.
fn anything() -> Rules {
    let everywhere = ["0.0.0.0/0", "::/0"].map(|range| range.parse().expect("a range"));
    Rules { ranges: everywhere.into(), http: true, ports: world::PORTS.into(), ..Rules::default() }
}

/// Returns rules that allow everything except addresses.
fn lax(names: &NameServer) -> Rules {
    let ports = world::PORTS.into();
    Rules { http: true, ports, nameserver: Some(names.address), ..Rules::default() }
}

fn is_refused(result: &Result<CallResponse, CallError>) -> bool {
    matches!(result, Err(CallError::Refused(_)))
}

#[test]
fn no_address_in_a_url_reaches_a_honeypot() {
    world::enter("no_address_in_a_url_reaches_a_honeypot", async |world: World| {
        let names = NameServer::answering(|_, _| Answer::Silence).await;
        let outside = Outside::new(lax(&names)).expect("good rules");
        let urls = hostile::urls();
        assert!(urls.len() >= 2_000, "{} URLs", urls.len());
        for (number, text) in urls.iter().enumerate() {
            assert!(TenantUrl::parse(text, outside.rules()).is_err(), "{text}");
            let url = TenantUrl::parse(text, &anything()).expect(text);
            let result = call(&outside, &url, number).await;
            assert!(is_refused(&result), "{text}: {result:?}");
        }
        assert_eq!(names.questions(), 0, "an address needs no look-up");
        assert_eq!(world.visits(), NOBODY);
    });
}

#[test]
fn no_name_reaches_a_honeypot() {
    world::enter("no_name_reaches_a_honeypot", async |world: World| {
        let names = NameServer::answering(|name, _| hostile::answer(name)).await;
        let outside = Outside::new(lax(&names)).expect("good rules");
        let hosts = hostile::names();
        assert!(hosts.len() >= 200, "{} names", hosts.len());
        for (number, host) in hosts.iter().enumerate() {
            let url = TenantUrl::parse(&format!("http://{host}/"), outside.rules());
            let result = call(&outside, &url.expect("a name"), number).await;
            assert!(is_refused(&result), "{host}: {result:?}");
        }
        assert_eq!(world.visits(), NOBODY);
    });
}

/// Guards against a network that never answers, which would pass every other test.
#[test]
fn a_public_address_is_reached_and_pinned() {
    world::enter("a_public_address_is_reached_and_pinned", async |world: World| {
        let names = NameServer::answering(|_, before| {
            let address = if before == 0 { PUBLIC } else { "127.0.0.1" };
            Answer::Addresses(vec![address.parse().expect("an address")])
        })
        .await;
        let rates = world::often(&["flips.example"]);
        let rules = Rules { nameserver: Some(names.address), rates, ..Rules::default() };
        let outside = Outside::new(rules).expect("good rules");
        let parse = |text: &str| TenantUrl::parse(text, outside.rules()).expect("may be called");

        // Honeypots hang up at once, so none of these calls gets a response.
        let by_address = call(&outside, &parse("https://93.184.216.34/"), 1).await;
        assert!(matches!(by_address, Err(CallError::Unreachable(_))), "{by_address:?}");
        let by_name = call(&outside, &parse("https://flips.example/"), 2).await;
        assert!(matches!(by_name, Err(CallError::Unreachable(_))), "{by_name:?}");
        let flipped = call(&outside, &parse("https://flips.example/"), 3).await;
        assert!(is_refused(&flipped), "{flipped:?}");
        let by_v6 = call(&outside, &parse("https://[2606:4700::1]/"), 4).await;
        assert!(matches!(by_v6, Err(CallError::Unreachable(_))), "{by_v6:?}");

        let v6: IpAddr = "2606:4700::1".parse().expect("an address");
        let public: IpAddr = PUBLIC.parse().expect("an address");
        assert_eq!(world.visits(), [public, public, v6]);
    });
}

#[test]
fn an_address_of_this_machine_is_refused_though_it_is_public() {
    world::enter(
        "an_address_of_this_machine_is_refused_though_it_is_public",
        async |world: World| {
            let names = NameServer::answering(|_, _| {
                let ours = [PUBLIC, world::OURS_V4].map(|text| text.parse().expect("an address"));
                Answer::Addresses(ours.into())
            })
            .await;
            let rules = Rules { nameserver: Some(names.address), ..Rules::default() };
            let outside = Outside::new(rules).expect("good rules");
            let urls = [
                format!("https://{}/", world::OURS_V4),
                format!("https://[{}]/", world::OURS_V6),
                "https://agents.example/".to_owned(),
            ];
            for (number, text) in urls.iter().enumerate() {
                let url = TenantUrl::parse(text, outside.rules()).expect("is public");
                let result = call(&outside, &url, number).await;
                let ours = matches!(result, Err(CallError::Refused(UrlRefusal::Ourselves)));
                assert!(ours, "{text}: {result:?}");
            }
            assert_eq!(world.visits(), NOBODY);
        },
    );
}
