//! Measures the code: its amount, its shape, and its open debts to `STYLE.md`.
//!
//! Every figure is computed from the files that git tracks. `cargo xtask house --list FIGURE` prints the places behind
//! a figure.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::repo::{Repo, TextFile};

mod cycles;
mod names;
mod parts;
mod shape;
mod sql;

use parts::Parts;
use shape::Shape;

/// A figure that counts places, and the places.
struct Places {
    name: &'static str,
    places: Vec<String>,
}

/// Prints the figures, or the places behind one of them.
pub(crate) fn run(repo: &Repo, args: &[&str]) -> Result<ExitCode> {
    let texts = repo.text_files()?;
    let parts = Parts::split(&texts)?;
    let shape = Shape::measure(&parts);
    let counted = [
        Places { name: "tuple_params", places: shape.tuple_params.clone() },
        Places { name: "planted_in_product", places: planted(&parts) },
        Places { name: "sql_superseded", places: sql::superseded(&texts) },
        Places { name: "participle_types", places: names::participles(&shape.types) },
        Places { name: "shared_type_names", places: names::shared(&shape.types) },
        Places { name: "wh_comments_pct", places: shape.wh_comments.clone() },
        Places { name: "cycles", places: cycles::find(&parts) },
    ];
    match args {
        [] => println!("{}", line(&parts, &shape, &counted)),
        ["--list", name] => match counted.iter().find(|figure| figure.name == *name) {
            Some(figure) => figure.places.iter().for_each(|place| println!("{place}")),
            None => bail!("{name} is not a figure that counts places"),
        },
        _ => bail!("usage: cargo xtask house [--list FIGURE]"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Type names of the product that a search cannot find, each after its places.
#[derive(Debug)]
pub(crate) struct UnsearchableNames {
    pub(crate) participles: Vec<String>,
    pub(crate) shared: Vec<String>,
}

impl UnsearchableNames {
    /// Finds them in all files.
    pub(crate) fn find(texts: &[TextFile]) -> Result<Self> {
        let types = Shape::measure(&Parts::split(texts)?).types;
        Ok(Self { participles: names::participles(&types), shared: names::shared(&types) })
    }
}

fn line(parts: &Parts, shape: &Shape, counted: &[Places]) -> String {
    let count = |name: &str| {
        let figure = counted.iter().find(|figure| figure.name == name);
        figure.map_or(0, |figure| figure.places.len())
    };
    let lengths: Vec<usize> = parts.product.iter().map(|file| file.lines).collect();
    let wh_pct = 100 * count("wh_comments_pct") / shape.doc_comments.max(1);
    format!(
        "house: product_lines={} test_lines={} fn_median={} fn_p95={} file_p95={} tuple_params={} planted_in_product={} \
         sql_superseded={} participle_types={} shared_type_names={} wh_comments_pct={wh_pct} cycles={}",
        lengths.iter().sum::<usize>(),
        parts.test_lines,
        percentile(&shape.fn_lines, 50),
        percentile(&shape.fn_lines, 95),
        percentile(&lengths, 95),
        count("tuple_params"),
        count("planted_in_product"),
        count("sql_superseded"),
        count("participle_types"),
        count("shared_type_names"),
        count("cycles"),
    )
}

/// Returns the smallest value that is at least as large as this share of all.
fn percentile(values: &[usize], percent: usize) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let nth = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(nth).copied().unwrap_or(0)
}

/// Returns the lines of the product that plant a bug or a crash. A failpoint is neither: no release contains it.
fn planted(parts: &Parts) -> Vec<String> {
    let lines = parts.product.iter().flat_map(|file| {
        file.text.lines().enumerate().map(move |(line, text)| (&file.path, line, text))
    });
    let found = lines.filter(|(_, _, text)| {
        ["is_planted", "crash_point", "NIGHTDESK_MUTANT"].iter().any(|word| text.contains(word))
    });
    found.map(|(path, line, _)| format!("{path}:{}", line + 1)).collect()
}

/// Returns true if a file belongs to the product: all others are tests, proofs or tools.
fn is_product(file: &TextFile) -> bool {
    file.path.starts_with("crates/") || file.path.starts_with("platforms/")
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn a_percentile_is_a_value_that_occurs() {
        let cases: [(&[usize], usize, usize); 4] =
            [(&[], 50, 0), (&[7], 95, 7), (&[3, 1, 2], 50, 2), (&[1, 2, 3, 4], 95, 4)];
        for (values, percent, want) in cases {
            assert_eq!(percentile(values, percent), want, "{values:?} {percent}");
        }
    }
}
