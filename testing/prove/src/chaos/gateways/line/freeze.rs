//! Freezes a gateway on its way to sleep, as a host does that relies on a call to thaw it.

use std::time::Duration;

use nightdesk_judge::GatewayState;
use tokio::sync::watch;
use tokio::time::timeout;

use super::Line;
use crate::chaos::gateways::{Step, Told, agent};
use crate::chaos::manner::Manner;

/// Maximum time frozen without a wake call: longer than a call may take.
const FROZEN_MAX: Duration = Duration::from_mins(2);

/// Freezes a gateway that is to be frozen. Returns a manner if the line ends.
pub(super) async fn freeze(
    line: &mut Line<'_>,
    told: &mut watch::Receiver<Told>,
) -> Option<Manner> {
    let (hall, member) = (line.dialled.hall, line.dialled.member);
    let step = hall.frozen().get(&member).copied()?;
    match step {
        Step::Awake => {}
        // Either it is frozen, or it sees that the line is gone when it thaws.
        Step::SaidIdle => drop(line.says_idle().await),
        Step::KnownIdle => line.goes_idle().await,
        Step::Redialled => {
            line.goes_idle().await;
            hall.frozen().insert(member, Step::Awake);
            return Some(Manner::Idles);
        }
    }
    // A wake call from before the freeze does not count.
    drop(timeout(Duration::ZERO, hall.woken[member].notified()).await);
    line.state(GatewayState::Frozen);
    agent::asleep(hall, member, told, FROZEN_MAX).await;
    line.state(GatewayState::Thawed);
    hall.frozen().remove(&member);
    (step != Step::Awake).then_some(Manner::Redials)
}
