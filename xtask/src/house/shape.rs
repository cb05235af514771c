//! Measures functions, parameters, types and doc comments.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, FnArg, Lit, Meta, Pat, Signature};

use super::names::TypeName;
use super::parts::Parts;
use crate::tidy::sentences::lacks_subject;

/// The results for all files.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Lines of each function of the product.
    pub(super) fn_lines: Vec<usize>,
    /// Parameters of the product's functions that are tuple patterns.
    pub(super) tuple_params: Vec<String>,
    /// Types of the product.
    pub(super) types: Vec<TypeName>,
    pub(super) doc_comments: usize,
    /// Doc comments, also of tests, that begin without a subject.
    pub(super) wh_comments: Vec<String>,
    path: String,
    is_product: bool,
}

impl Shape {
    pub(super) fn measure(parts: &Parts) -> Self {
        let mut shape = Self { is_product: true, ..Self::default() };
        for file in &parts.product {
            shape.path.clone_from(&file.path);
            shape.visit_file(&file.syntax);
        }
        shape.is_product = false;
        for (path, syntax) in &parts.tests {
            shape.path.clone_from(path);
            shape.visit_file(syntax);
        }
        shape
    }

    fn at(&self, span: Span) -> String {
        format!("{}:{}", self.path, span.start().line)
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        if !self.is_product {
            return;
        }
        let (start, end) = (signature.span().start().line, block.span().end().line);
        self.fn_lines.push(end - start + 1);
    }

    fn parameters(&mut self, signature: &Signature) {
        if !self.is_product {
            return;
        }
        for argument in &signature.inputs {
            if let FnArg::Typed(typed) = argument
                && is_tuple(&typed.pat)
            {
                self.tuple_params.push(format!("{} {}", self.at(typed.span()), signature.ident));
            }
        }
    }

    fn named(&mut self, ident: &syn::Ident) {
        if self.is_product {
            let place = self.at(ident.span());
            self.types.push(TypeName { name: ident.to_string(), place });
        }
    }

    /// Checks the attributes of one item: its doc lines are one comment.
    fn doc_comment(&mut self, attributes: &[Attribute]) {
        let mut lines =
            attributes.iter().filter_map(|attribute| Some((attribute, doc_line(attribute)?)));
        let Some((attribute, first)) = lines.find(|(_, line)| !line.trim().is_empty()) else {
            return;
        };
        self.doc_comments += 1;
        let word: String = first.trim().chars().take_while(|c| c.is_alphabetic()).collect();
        if lacks_subject(&word) {
            self.wh_comments.push(format!("{} {}", self.at(attribute.span()), first.trim()));
        }
    }
}

fn is_tuple(pattern: &Pat) -> bool {
    if let Pat::Reference(inner) = pattern {
        return is_tuple(&inner.pat);
    }
    matches!(pattern, Pat::Tuple(_))
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(literal) = &pair.value else { return None };
    let Lit::Str(text) = &literal.lit else { return None };
    pair.path.is_ident("doc").then(|| text.value())
}

/// Visits an item: its doc comment, then its content.
macro_rules! visit_documented {
    ($($method:ident $item:ident),* $(,)?) => {
        $(fn $method(&mut self, node: &'ast syn::$item) {
            self.doc_comment(&node.attrs);
            visit::$method(self, node);
        })*
    };
}

impl<'ast> Visit<'ast> for Shape {
    visit_documented! {
        visit_file File, visit_item_const ItemConst, visit_item_impl ItemImpl, visit_item_macro ItemMacro,
        visit_item_mod ItemMod, visit_item_static ItemStatic, visit_field Field, visit_variant Variant,
        visit_impl_item_const ImplItemConst, visit_trait_item_const TraitItemConst,
        visit_trait_item_type TraitItemType,
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.doc_comment(&node.attrs);
        self.named(&node.ident);
        visit::visit_item_struct(self, node);
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.doc_comment(&node.attrs);
        self.named(&node.ident);
        visit::visit_item_enum(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.doc_comment(&node.attrs);
        self.named(&node.ident);
        visit::visit_item_trait(self, node);
    }

    fn visit_item_type(&mut self, node: &'ast syn::ItemType) {
        self.doc_comment(&node.attrs);
        self.named(&node.ident);
        visit::visit_item_type(self, node);
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.doc_comment(&node.attrs);
        self.function(&node.sig, &node.block);
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.doc_comment(&node.attrs);
        self.function(&node.sig, &node.block);
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        self.doc_comment(&node.attrs);
        if let Some(block) = &node.default {
            self.function(&node.sig, block);
        }
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_signature(&mut self, node: &'ast Signature) {
        self.parameters(node);
        visit::visit_signature(self, node);
    }
}
