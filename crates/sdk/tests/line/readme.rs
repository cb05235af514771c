//! The README's code is code that compiles.

const README: &str = include_str!("../../README.md");

/// Each example, in the order of the README's blocks.
const EXAMPLES: [&str; 2] =
    [include_str!("../../examples/echo.rs"), include_str!("../../examples/long_turn.rs")];

#[test]
fn every_block_of_rust_is_an_example() {
    let blocks = README.split("```rust,no_run\n").skip(1);
    let blocks: Vec<&str> =
        blocks.map(|block| block.split("```").next().unwrap_or_default()).collect();

    assert_eq!(blocks, EXAMPLES);
    assert_eq!(README.matches("```rust").count(), EXAMPLES.len(), "no other block");
}
