//! The records that the pages of operators and tenants read.
//!
//! Each statement reads a bounded number of rows by an index. A lateral subquery with a limit is planned as a probe of a
//! key, also before the tables were analysed; a plain join may be planned as a walk over all agents of the tenant.

mod agents;
mod reach;
mod stuck;
mod summary;
mod usage;
