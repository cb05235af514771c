//! What the register's store promises: who may enter what, gateways, and bots.

mod entering;
mod gateways;
mod bots;

pub use bots::*;
pub use entering::*;
pub use gateways::*;
