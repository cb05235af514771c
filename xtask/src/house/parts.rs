//! Splits Rust files into product and tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemMod};

use super::is_product;
use crate::repo::TextFile;

/// A Rust file of the product, without its tests.
#[derive(Debug)]
pub(super) struct ProductFile {
    pub(super) path: String,
    pub(super) text: String,
    /// Number of lines that are not tests.
    pub(super) lines: usize,
    pub(super) syntax: syn::File,
}

/// All Rust files, split.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) product: Vec<ProductFile>,
    /// Files that are tests as a whole, proofs and tools.
    pub(super) tests: Vec<(String, syn::File)>,
    pub(super) test_lines: usize,
}

impl Parts {
    pub(super) fn split(texts: &[TextFile]) -> Result<Self> {
        let mut parsed = Vec::new();
        for file in texts.iter().filter(|file| file.has_extension("rs")) {
            let syntax = syn::parse_file(&file.text);
            parsed.push((file, syntax.with_context(|| format!("could not parse {}", file.path))?));
        }
        let test_modules: BTreeSet<PathBuf> =
            parsed.iter().flat_map(|(file, syntax)| test_modules(&file.path, syntax)).collect();
        let mut parts = Self { product: Vec::new(), tests: Vec::new(), test_lines: 0 };
        for (file, syntax) in parsed {
            let lines = file.text.lines().count();
            if !is_product(file) || is_test_file(&file.path, &test_modules) {
                parts.test_lines += lines;
                parts.tests.push((file.path.clone(), syntax));
                continue;
            }
            let inline: usize = syntax.items.iter().filter_map(inline_test_lines).sum();
            parts.test_lines += inline;
            let syntax = without_tests(syntax);
            let (path, text) = (file.path.clone(), file.text.clone());
            parts.product.push(ProductFile { path, text, lines: lines - inline, syntax });
        }
        Ok(parts)
    }
}

/// Returns the folder of a file's modules.
fn children_of(path: &str) -> PathBuf {
    let path = Path::new(path);
    let is_root = path.file_stem().is_some_and(|stem| stem == "lib" || stem == "main");
    if is_root { path.with_file_name("") } else { path.with_extension("") }
}

/// Returns the paths of modules that a file declares only for tests.
fn test_modules(path: &str, syntax: &syn::File) -> Vec<PathBuf> {
    let folder = children_of(path);
    let mut found = Vec::new();
    for item in &syntax.items {
        if let Item::Mod(ItemMod { attrs, ident, content: None, .. }) = item
            && attrs.iter().any(is_for_tests)
        {
            found.push(folder.join(ident.to_string()));
        }
    }
    found
}

/// Returns true if an attribute excludes an item from the product: `cfg(test)`, alone or with the feature of a proof.
fn is_for_tests(attribute: &Attribute) -> bool {
    let Ok(list) = attribute.meta.require_list() else { return false };
    let tokens = list.tokens.to_string();
    let words: Vec<&str> = tokens.split(|c: char| !c.is_alphanumeric()).collect();
    attribute.path().is_ident("cfg") && words.contains(&"test") && !words.contains(&"not")
}

fn is_test_file(path: &str, test_modules: &BTreeSet<PathBuf>) -> bool {
    let outside = ["tests", "examples", "benches"];
    let in_folder = path.split('/').nth(2).is_some_and(|folder| outside.contains(&folder));
    let own = Path::new(path).with_extension("");
    in_folder || own.ancestors().any(|module| test_modules.contains(module))
}

fn inline_test_lines(item: &Item) -> Option<usize> {
    let Item::Mod(module) = item else { return None };
    let is_test = module.content.is_some() && module.attrs.iter().any(is_for_tests);
    let span = module.span();
    is_test.then(|| span.end().line - span.start().line + 1)
}

fn without_tests(mut syntax: syn::File) -> syn::File {
    syntax.items.retain(|item| inline_test_lines(item).is_none());
    syntax
}
