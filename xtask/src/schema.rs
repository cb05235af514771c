//! The dump of all migrations: `crates/store-pg/schema.sql`.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::Mode;
use crate::migrated::Migrated;
use crate::repo::Repo;

const SCHEMA: &str = "crates/store-pg/schema.sql";

/// First lines of the file.
const HEADER: &str = "\
-- The schema after all migrations, without the partitions of single days.
-- Made by `just gen`; do not edit.
";

/// Query for partitions. They change with the days, and their parents have the same definition.
const PARTITIONS: &str = "\
select format('%I.%I', n.nspname, c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relispartition and c.relkind in ('r', 'p')
order by 1";

/// Lines that depend on the dumping user and program.
const NOISE: [&str; 6] =
    ["-- ", "--\n", "SET ", "SELECT pg_catalog.", "\\restrict", "\\unrestrict"];

/// Writes the dump, or compares it with the existing one.
pub(crate) fn run(repo: &Repo, mode: Mode) -> Result<ExitCode> {
    let path = repo.path(SCHEMA);
    let new = clean(&dump(repo)?);
    let old = fs::read_to_string(&path).unwrap_or_default();
    match mode {
        Mode::Write => fs::write(&path, new).context("could not write schema.sql")?,
        Mode::Check if old != new => {
            bail!("{SCHEMA} is not what the migrations make; run `just gen`")
        }
        Mode::Check => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn dump(repo: &Repo) -> Result<String> {
    let database = Migrated::start(repo)?;
    let mut pg_dump = database.client("pg_dump");
    pg_dump.args(["--schema-only", "--dbname", &database.url()]);
    for partition in database.ask(repo, PARTITIONS)? {
        pg_dump.arg(format!("--exclude-table={partition}"));
    }
    repo.output(&mut pg_dump)
}

/// Removes noise and repeated blank lines.
fn clean(dump: &str) -> String {
    let mut schema = HEADER.to_owned();
    let mut was_blank = false;
    for line in dump.split_inclusive('\n').filter(|line| !is_noise(line)) {
        let is_blank = line.trim().is_empty();
        if !is_blank {
            schema.push_str(if was_blank { "\n" } else { "" });
            schema.push_str(line);
        }
        was_blank = is_blank;
    }
    schema
}

fn is_noise(line: &str) -> bool {
    NOISE.iter().any(|begin| line.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_migrations_made_and_nothing_else() {
        let dump = "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET lock_timeout = 0;\n\
                    SELECT pg_catalog.set_config('search_path', '', false);\n\n\n\
                    CREATE TABLE public.a (\n    b bigint\n);\n\n\n--\n-- done\n--\n\n\
                    ALTER TABLE public.a OWNER TO c;\n\\unrestrict abc\n\n";

        let want =
            "\nCREATE TABLE public.a (\n    b bigint\n);\n\nALTER TABLE public.a OWNER TO c;\n";
        assert_eq!(clean(dump), format!("{HEADER}{want}"));
    }
}
