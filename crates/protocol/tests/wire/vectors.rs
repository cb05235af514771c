//! Test vectors are current.

use std::fs;
use std::path::Path;

use crate::made_vectors;

#[test]
fn the_vectors_are_those_of_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    for file in made_vectors::make() {
        let kept = fs::read_to_string(folder.join(file.name)).unwrap_or_default();
        assert!(kept == file.text(), "{} is stale; run `just gen`", file.name);
    }
}
