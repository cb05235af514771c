//! The stores of leases and of our own pages.

use std::time::Duration;

use nightdesk_lease::{Owner, Renewed, Resource};
use nightdesk_types::{Node, NodeEpoch};
use nightdesk_webchat::store::{Amend, Answer, Chat, News, Said, Written};

use super::through;

through! { nightdesk_lease::Store {
    fn begin(name: &str, lasts: Duration) -> NodeEpoch;
    fn renew(node: &Node, lasts: Duration) -> Renewed;
    fn end(node: &Node) -> ();
    fn bury(late: Duration) -> Vec<Node>;
    fn own(resource: Resource, node: &Node) -> Option<Owner>;
}}

through! { nightdesk_webchat::store::Store {
    fn said(chat: &Chat, said: &Said) -> Written;
    fn answered(chat: &Chat, answer: &Answer) -> i64;
    fn amend(chat: &Chat, message: i64, amend: &Amend) -> bool;
    fn show(chat: &Chat, status: Option<&str>) -> ();
    fn since(chat: &Chat, after: i64, lines_max: usize) -> News;
    fn latest(chat: &Chat, lines_max: usize) -> News;
    fn forget() -> u64;
}}
