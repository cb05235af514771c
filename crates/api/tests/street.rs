//! The street side, from outside: what a platform and a gateway see of the desk.

#[path = "street/door.rs"]
mod door;
#[path = "street/line.rs"]
mod line;
#[path = "street/hooks.rs"]
mod hooks;
#[path = "street/canary.rs"]
mod canary;
