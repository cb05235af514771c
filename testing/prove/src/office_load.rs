//! Measures the dashboard of a desk with many agents: the time of every page, and what open pages cost the road.

mod browser;
mod crowd;
mod dashboards;
mod pages;
mod visitors;

pub use browser::DeskBrowser;
pub use crowd::{Crowd, CrowdSize};
pub use dashboards::Dashboards;
pub use pages::{PageTimes, ShownNames, measure_pages};
pub use visitors::{TenantAdmin, Visitors};
