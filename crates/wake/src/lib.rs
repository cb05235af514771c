//! Wake: when a sleeping agent is called, and what comes of it.
