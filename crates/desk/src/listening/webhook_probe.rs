//! Checks with a platform that posts events whether its posts arrive.

use nightdesk_port::{WebhookProbe, WebhookStatus};
use nightdesk_types::limits::{HEARING_LOOK_EVERY, POST_FAILED_LATELY, POSTS_KEPT_FOR};
use tokio::time::timeout;

use super::{ListenFailure, NodeListener};
use crate::Account;
use crate::reception::ListenerRecord;

impl NodeListener {
    /// Probes once, records the result, and waits until the next probe is due.
    pub(super) async fn probe(
        &self,
        probe: &dyn WebhookProbe,
        account: &Account,
        record: &mut ListenerRecord,
    ) -> Result<(), ListenFailure> {
        let asked = self.drain.run_until_cancelled(probe.probe(&account.bot)).await;
        let Some(posting) = asked else { return Ok(()) };
        let posting = posting?;
        if let Some(why) = failure_reason(posting) {
            record.record_failure(&account.bot, &why).await;
        } else {
            let lost = loss_text(posting);
            record.record_response(&account.bot, POSTS_KEPT_FOR, &lost).await?;
        }
        // Both results mean that it is time to look again.
        drop(timeout(HEARING_LOOK_EVERY, self.drain.cancelled()).await);
        Ok(())
    }
}

/// Returns the reason that a platform's posts fail, if they do.
fn failure_reason(WebhookStatus { waiting, failed_ago }: WebhookStatus) -> Option<String> {
    let fails = waiting > 0 && failed_ago.is_some_and(|ago| ago < POST_FAILED_LATELY);
    fails.then(|| format!("the webhook requests of its platform fail, and {waiting} events wait"))
}

fn loss_text(WebhookStatus { waiting, .. }: WebhookStatus) -> String {
    format!(
        "its platform could not deliver events for more than {} minutes and may have dropped some; \
         {waiting} still wait",
        POSTS_KEPT_FOR.as_secs() / 60
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn posts_that_fail_and_wait_are_an_obstacle() {
        let ago = |secs| Some(Duration::from_secs(secs));
        let lately = POST_FAILED_LATELY.as_secs();
        for (waiting, failed_ago, is_one) in [
            (0, None, false),
            (3, None, false),
            (0, ago(1), false),
            (3, ago(1), true),
            (3, ago(lately - 1), true),
            (3, ago(lately), false),
        ] {
            let posting = WebhookStatus { waiting, failed_ago };
            assert_eq!(failure_reason(posting).is_some(), is_one, "{posting:?}");
        }
    }
}
