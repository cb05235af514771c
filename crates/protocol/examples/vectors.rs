//! Writes the test vectors into a folder: `vectors FOLDER`.
#![expect(clippy::expect_used, reason = "without its files it has nothing to do")]

#[path = "../tests/wire/made_vectors.rs"]
mod made_vectors;

use std::path::Path;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    for file in made_vectors::make() {
        std::fs::write(Path::new(&folder).join(file.name), file.text()).expect("the folder exists");
    }
}
