//! Posts alerts to URLs, signed as Standard Webhooks define.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use nightdesk_alerts::{
    AlertFailure, AlertMessage, AlertSender, AlertWay, WayTarget, WebhookTarget,
};
use nightdesk_outside::{Outside, TenantUrl, WebhookPost};
use nightdesk_types::Clock;

use crate::posting::WebhookKey;

/// Posts alerts through the guarded client.
pub struct AlertWebhooks {
    outside: Outside,
    key: WebhookKey,
    clock: Arc<dyn Clock>,
}

nightdesk_types::opaque_debug!(AlertWebhooks);

impl AlertWebhooks {
    /// Creates the sender.
    pub fn new(outside: Outside, key: WebhookKey, clock: Arc<dyn Clock>) -> Self {
        Self { outside, key, clock }
    }
}

#[async_trait]
impl AlertSender for AlertWebhooks {
    async fn send(&self, way: &AlertWay, message: &AlertMessage) -> Result<(), AlertFailure> {
        let WayTarget::Webhook(WebhookTarget { url, salt }) = &way.target else {
            return Err(AlertFailure("the way has no URL".to_owned()));
        };
        let url = TenantUrl::parse(url, self.outside.rules()).map_err(failure)?;
        let timestamp = self.clock.now().as_second();
        let body = message.body.to_string();
        let secret = self.key.alert_secret(way.scope, salt);
        let post = WebhookPost {
            url: &url,
            id: &message.id,
            timestamp,
            signatures: &secret.sign(&message.id, timestamp, &body),
            body: body.into(),
            // An alert that is over is told by the next message.
            withdrawn: &AtomicBool::new(false),
        };
        let response = self.outside.post(way.scope.tenant(), post).await.map_err(failure)?;
        if (200..300).contains(&response.status) {
            return Ok(());
        }
        Err(AlertFailure(format!("the URL answered with status {}", response.status)))
    }
}

fn failure(error: impl Display) -> AlertFailure {
    AlertFailure(error.to_string())
}
