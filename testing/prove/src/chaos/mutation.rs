//! Plants a bug for a run: in the desk's processes or in their database.

use anyhow::{Context, Result};

use crate::cluster::Cluster;
use crate::stage::DATABASE;

/// The variable that selects a patch of `testing/mutants` in the mutated build.
const VARIABLE: &str = "NIGHTDESK_MUTANT";

/// The function with which the mutants in SQL change other functions.
const REPLACE_IN_FUNCTION: &str = include_str!("../../../mutants/replace_in_function.sql");

/// A bug that is planted for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mutation {
    /// No bug.
    #[default]
    Nothing,
    /// A bug that a patch put into the mutated build, by its number.
    Patch(&'static str),
    /// A bug in the database: the text of its file.
    Sql(&'static str),
}

impl Mutation {
    /// Returns the environment of the desk's processes.
    pub fn environment(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Patch(number) => vec![(VARIABLE, number.to_owned())],
            Self::Nothing | Self::Sql(_) => Vec::new(),
        }
    }

    /// Changes the database if the bug is there.
    pub fn alter(self, cluster: &Cluster) -> Result<()> {
        let Self::Sql(mutant) = self else { return Ok(()) };
        let altered = cluster.ask(DATABASE, &[REPLACE_IN_FUNCTION, mutant].concat());
        altered.map(drop).context("could not plant a bug in the database")
    }
}
