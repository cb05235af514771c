//! Alerts to tenants and to the operator: their causes, their messages, and the ways on which these go out.
//!
//! # Promise
//!
//! A cause that the rows show is an alert within seconds: one for each tenant and kind, however many subjects it has. Each
//! way of the tenant, and each way of the desk that covers tenants, gets a message when the alert is opened, a few
//! repetitions that become rarer, and one message when the cause is gone. A message that fails is retried for a day; a node
//! that dies repeats at most the message that it was sending.
//!
//! Begin with [`decide_alerts`] and [`decide_delivery`], which are pure and which every store uses; [`AlertStore`] is the
//! contract of a backend. No alert contains the text of a message.

mod kind;
mod cause;
mod alert;
mod decide;
mod way;
mod delivery;
mod message;
mod sender;
mod store;
mod metrics;

pub use alert::Alert;
pub use cause::{AlertCause, CauseScan, NodeFinding, one_line};
pub use decide::{AlertChange, AlertStep, decide_alerts};
pub use delivery::{
    AlertDelivery, AlertOutcome, DeliveryDecision, decide_delivery, record_delivery,
};
pub use kind::AlertKind;
pub use message::{AlertMessage, AlertNews};
pub use metrics::AlertMetrics;
pub use sender::{AlertFailure, AlertSender};
pub use store::{
    AlertAdmin, AlertStore, AlertUpdate, DeliveryClaim, NamedAlert, WayCreation, WayTest,
};
pub use way::{
    AlertWay, ChatTarget, ListedAlertWay, MailAddress, NewAlertWay, WayCoverage, WayKind,
    WayTarget, WebhookTarget,
};
