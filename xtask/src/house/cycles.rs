//! Finds cycles of imports among the files of a crate.
//!
//! A file uses another if it names a path into it. A module and the file that declares it count as one unit: a parent
//! declares its children, and they name its types.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{ItemUse, UseTree};

use super::parts::{Parts, ProductFile};

/// A module's path below its crate.
type Module = Vec<String>;

/// Returns groups of files that use each other, each as a list of their modules.
pub(super) fn find(parts: &Parts) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<&ProductFile>> = BTreeMap::new();
    for file in &parts.product {
        if let Some((name, _)) = file.path.split_once("/src/") {
            crates.entry(name).or_default().push(file);
        }
    }
    crates.into_iter().flat_map(|(name, files)| in_crate(name, &files)).collect()
}

fn in_crate(name: &str, files: &[&ProductFile]) -> Vec<String> {
    let modules: BTreeSet<Module> = files.iter().map(|file| module_of(&file.path)).collect();
    let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for file in files {
        let own = module_of(&file.path);
        let mut paths = Paths { own: own.clone(), found: Vec::new() };
        paths.visit_file(&file.syntax);
        let targets = paths.found.into_iter().map(|path| nearest(path, &modules));
        let targets = targets.filter(|target| !is_kin(&own, target)).collect();
        edges.insert(own, targets);
    }
    let groups = groups(&edges).into_iter().filter(|group| group.len() > 1);
    groups
        .map(|group| {
            let names: Vec<String> = group.iter().map(|module| module.join("::")).collect();
            format!("{name}: {}", names.join(" "))
        })
        .collect()
}

/// Returns the module of a path: `crates/a/src/b/c.rs` is `b::c`; the root is empty.
fn module_of(path: &str) -> Module {
    let within = path.split_once("/src/").map_or(path, |(_, within)| within);
    let within = within.trim_end_matches(".rs");
    let parts = within.split('/').map(str::to_owned);
    parts.filter(|part| part != "lib" && part != "main").collect()
}

/// Returns true if one module is within the other.
fn is_kin(one: &Module, other: &Module) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Returns the file in which a path ends.
fn nearest(mut path: Module, modules: &BTreeSet<Module>) -> Module {
    while !path.is_empty() && !modules.contains(&path) {
        path.pop();
    }
    path
}

/// Returns strongly connected groups: modules that reach each other.
fn groups(edges: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<Module>> {
    let reach: BTreeMap<&Module, BTreeSet<&Module>> =
        edges.keys().map(|from| (from, reachable(from, edges))).collect();
    let mut seen: BTreeSet<&Module> = BTreeSet::new();
    let mut groups = Vec::new();
    for (&from, targets) in &reach {
        if seen.contains(from) {
            continue;
        }
        let back = |to: &&&Module| reach.get(**to).is_some_and(|targets| targets.contains(from));
        let group: Vec<&Module> = targets.iter().filter(back).copied().collect();
        seen.extend(group.iter().copied());
        groups.push(group.into_iter().cloned().collect());
    }
    groups
}

fn reachable<'a>(
    from: &'a Module,
    edges: &'a BTreeMap<Module, BTreeSet<Module>>,
) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for target in edges.get(next).into_iter().flatten() {
            if found.insert(target) {
                open.push(target);
            }
        }
    }
    found
}

/// Collects the paths into the crate that a file names.
struct Paths {
    own: Module,
    found: Vec<Module>,
}

impl Paths {
    fn add(&mut self, parts: &[String]) {
        let mut base = self.own.clone();
        let mut rest = parts;
        match rest.first().map(String::as_str) {
            Some("crate") => base = Module::new(),
            Some("self") => {}
            Some("super") => {
                base.pop();
            }
            _ => return,
        }
        rest = &rest[1..];
        while rest.first().is_some_and(|part| part == "super") {
            base.pop();
            rest = &rest[1..];
        }
        base.extend(rest.iter().cloned());
        self.found.push(base);
    }

    fn add_tree(&mut self, prefix: &[String], tree: &UseTree) {
        let with = |name: String| [prefix, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) => self.add(&with(name.ident.to_string())),
            UseTree::Rename(rename) => self.add(&with(rename.ident.to_string())),
            UseTree::Glob(_) => self.add(prefix),
            UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.add_tree(prefix, item));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, node: &'ast ItemUse) {
        self.add_tree(&[], &node.tree);
    }

    fn visit_path(&mut self, node: &'ast syn::Path) {
        let parts: Vec<String> = node.segments.iter().map(|part| part.ident.to_string()).collect();
        self.add(&parts);
        visit::visit_path(self, node);
    }
}
