//! The desk cannot be used for an attack: many agents behind one host are called no more often than one.

use std::sync::mpsc;
use std::time::Duration;

use nightdesk_outside::{CallError, FormPost, Outside, TenantUrl};
use nightdesk_types::TenantId;
use uuid::Uuid;

use crate::host::{Host, Script};
use crate::name_server::{Answer, NameServer};
use crate::stage::{Authority, LOOPBACK, NAME, get_for, named};

/// Prevents stopped time from advancing while a socket is waited for: tokio does not advance it while a blocking task
/// runs. Only the test advances the time.
fn stand_still() -> mpsc::Sender<()> {
    let (held, dropped) = mpsc::channel::<()>();
    drop(tokio::task::spawn_blocking(move || dropped.recv()));
    held
}

/// A host, and a client with the usual rates for it.
struct LimitedHost {
    host: Host,
    outside: Outside,
    url: TenantUrl,
    names: NameServer,
}

impl LimitedHost {
    async fn open() -> Self {
        let authority = Authority::new();
        let fine = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec();
        let host = Host::secured(authority.issue(&named(NAME)), Script::Say(fine)).await;
        let names = NameServer::answering(|_, _| Answer::Addresses(vec![LOOPBACK])).await;
        let outside = Outside::new(authority.rules(&names, &[host.port])).expect("good rules");
        let text = format!("https://{NAME}:{}/wake", host.port);
        let url = TenantUrl::parse(&text, outside.rules()).expect("may be called");
        Self { host, outside, url, names }
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_agents_behind_one_host_get_sixty_calls_a_minute() {
    let _held = stand_still();
    let LimitedHost { host, outside, url, names: _names } = LimitedHost::open().await;

    for _half_second in 0..120 {
        for agent in 0..1_000 {
            let tenant = TenantId::from_uuid(Uuid::from_u128(agent / 10));
            let result = get_for(tenant, &outside, &url).await;
            assert!(matches!(result, Ok(_) | Err(CallError::Busy { .. })), "{result:?}");
        }
        tokio::time::advance(Duration::from_millis(500)).await;
    }
    assert_eq!(host.heard().len(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_login_makes_its_calls_at_once_whatever_tenants_call_at_its_provider() {
    let _held = stand_still();
    let LimitedHost { host, outside, url, names: _names } = LimitedHost::open().await;
    for (tenant, is_made) in [(1, true), (2, false)] {
        let called = get_for(TenantId::from_uuid(Uuid::from_u128(tenant)), &outside, &url).await;
        assert_eq!(called.is_ok(), is_made, "{called:?}");
    }

    let described = outside.get_document(&url).await;
    let post = FormPost { url: &url, form: "code=c".to_owned(), authorization: None };
    let exchanged = outside.post_form(post).await;
    let keys = outside.get_document(&url).await;
    assert!(described.is_ok() && exchanged.is_ok() && keys.is_ok(), "{exchanged:?} {keys:?}");
    assert_eq!(host.heard().len(), 4);
}
