//! A test server behind a webhook, and a port without a server.

#![expect(clippy::expect_used, reason = "a stage that cannot be set up should stop")]

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroU32;

use async_trait::async_trait;
use aws_lc_rs::hmac;
use nightdesk_letters::connectors::{HookTarget, Webhook};
use nightdesk_outside::{HostRate, Outside, Rules};
use nightdesk_protocol::delivery::{Delivery, WakeRequest};
use nightdesk_types::TenantId;
use uuid::Uuid;

use super::clock;
use super::host::{Heard, Host};
use crate::connector::{Seen, Stage};

const AGENT: &str = "perry";
const BEARER: &str = "a bearer of the stage";
const SECRET: &str = "a secret of the stage";

/// A port that the system assigns to no program.
const NOBODY: u16 = 1;

pub(super) struct WebhookStage {
    host: Host,
    webhook: Webhook,
    broken: Webhook,
    wakes: bool,
}

impl WebhookStage {
    /// Creates a stage whose agent can be woken.
    pub(super) fn waking() -> Self {
        Self::new(true)
    }

    /// Creates a stage whose agent has no wake URL.
    pub(super) fn passive() -> Self {
        Self::new(false)
    }

    fn new(wakes: bool) -> Self {
        let host = Host::start();
        let often = NonZeroU32::new(10_000).expect("not zero");
        let rate = HostRate { per_second: often, at_once: often };
        let rules = Rules {
            ranges: vec!["127.0.0.0/8".parse().expect("a range")],
            http: true,
            ports: vec![host.port(), NOBODY],
            rates: BTreeMap::from([("127.0.0.1".to_owned(), rate)]),
            nameserver: Some(([127, 0, 0, 1], 9).into()),
            ..Rules::default()
        };
        let outside = Outside::new(rules).expect("rules");
        let webhook = |port| webhook(&outside, port, wakes);
        Self { webhook: webhook(host.port()), broken: webhook(NOBODY), host, wakes }
    }
}

fn webhook(outside: &Outside, port: u16, wakes: bool) -> Webhook {
    let at = |path: &str| format!("http://127.0.0.1:{port}/{path}");
    let hook = HookTarget {
        url: at("letters"),
        wake_url: wakes.then(|| at("wake")),
        status_url: Some(at("status")),
    };
    let tenant = TenantId::from_uuid(Uuid::from_u128(1));
    let agents = BTreeMap::from([(AGENT.to_owned(), hook)]);
    let webhook = Webhook::new(outside.clone(), tenant, agents, clock());
    webhook.with_bearer(BEARER.to_owned().into()).with_secret(SECRET.to_owned().into())
}

#[async_trait]
impl Stage for WebhookStage {
    type Connector = Webhook;

    fn name(&self) -> &'static str {
        if self.wakes { "webhook" } else { "webhook without a URL for wakes" }
    }

    fn connector(&self) -> &Webhook {
        &self.webhook
    }

    fn broken(&self) -> Option<&Webhook> {
        Some(&self.broken)
    }

    fn agent(&self) -> Option<String> {
        Some(AGENT.to_owned())
    }

    fn interrupts(&self) -> bool {
        self.wakes
    }

    /// Returns the messages of a receiver that recognises repeats.
    async fn seen(&self) -> Vec<Seen> {
        let heard = self.host.heard().into_iter().filter(|heard| !heard.body.is_empty());
        let mut known = HashSet::new();
        heard
            .map(|heard| read(&heard))
            .filter(|(id, _)| known.insert(id.clone()))
            .map(|(_, seen)| seen)
            .collect()
    }
}

fn read(heard: &Heard) -> (String, Seen) {
    let (is_proven, wire) = (is_proven(heard), Some(heard.body.clone()));
    if heard.path == "/letters" {
        let Delivery { payload, .. } = serde_json::from_str(&heard.body).expect("a letter");
        let (words, kind) = (payload.text().to_owned(), Some(payload.kind()));
        let seen = Seen { words, kind, session: None, is_proven, wire };
        return (payload.meta().dispatch_id.clone(), seen);
    }
    let WakeRequest { opts, .. } = serde_json::from_str(&heard.body).expect("a wake");
    let id = opts.meta.map(|meta| meta.dispatch_id).unwrap_or_default();
    let words = opts.context.unwrap_or_default();
    (id, Seen { words, kind: None, session: opts.session_id, is_proven, wire })
}

fn is_proven(heard: &Heard) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature = heard.header("x-signature").and_then(|shown| shown.strip_prefix("sha256="));
    let signature = signature.and_then(|shown| hex::decode(shown).ok()).unwrap_or_default();
    heard.header("authorization") == Some(&format!("Bearer {BEARER}"))
        && hmac::verify(&key, heard.body.as_bytes(), &signature).is_ok()
}
