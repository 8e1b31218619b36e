//! Variables, fields and results: what they are, as far as it is written.

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::walk::Walk;

pub(super) fn signature<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>) {
    walk.returns(function.child_by_field_name("return_type"));
    let Some(list) = function.child_by_field_name("parameters") else { return };
    parameters(walk, list);
}

fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, list: Node<'tree>) {
    for parameter in list.named_children(&mut list.walk()) {
        match parameter.kind() {
            "parameter" => {
                let of_type = parameter.child_by_field_name("type");
                let Some(pattern) = parameter.child_by_field_name("pattern") else { continue };
                for name in names(pattern) {
                    walk.parameter(walk.text(name), of_type.filter(|_| name == pattern));
                }
            }
            "self_parameter" => {}
            _ => {
                for name in names(parameter) {
                    walk.parameter(walk.text(name), None);
                }
            }
        }
    }
}

pub(super) fn closure<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    if let Some(list) = node.child_by_field_name("parameters") {
        parameters(walk, list);
    }
}

pub(super) fn declaration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let (of_type, value) = (node.child_by_field_name("type"), node.child_by_field_name("value"));
    let Some(pattern) = node.child_by_field_name("pattern") else { return };
    bind_pattern(walk, pattern, of_type, value);
}

/// `let Some(x) = y`: what `y` may hold.
pub(super) fn condition<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let value = node.child_by_field_name("value");
    let Some(pattern) = node.child_by_field_name("pattern") else { return };
    bind_pattern(walk, pattern, None, value);
}

fn bind_pattern<'tree>(
    walk: &mut Walk<'_, 'tree>,
    pattern: Node<'tree>,
    of_type: Option<Node<'tree>>,
    value: Option<Node<'tree>>,
) {
    let inner = inner_of(walk, pattern);
    for name in names(pattern) {
        let (of_type, value) = if Some(name) == inner { (of_type, value) } else { (None, None) };
        walk.bind(walk.text(name), of_type, value);
    }
}

/// The one name that stands for all of the value: `x`, `mut x`, `Some(x)`, `Ok(x)`.
fn inner_of<'tree>(walk: &Walk<'_, 'tree>, pattern: Node<'tree>) -> Option<Node<'tree>> {
    let mut node = pattern;
    // `Ok(Some(ref x))`
    for _ in 0..6 {
        node = match node.kind() {
            "identifier" => return Some(node),
            "mut_pattern" | "ref_pattern" | "reference_pattern" => {
                let mut cursor = node.walk();
                node.named_children(&mut cursor).filter(|child| child.kind() != "mutable_specifier").last()?
            }
            "tuple_struct_pattern" if matches!(walk.field(node, "type"), "Some" | "Ok") => node.named_child(1)?,
            _ => return None,
        };
    }
    None
}

/// Names in patterns that say nothing of their types.
pub(super) fn matched<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    for name in names(node) {
        walk.parameter(walk.text(name), None);
    }
}

pub(super) fn each<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(pattern) = node.child_by_field_name("pattern") {
        matched(walk, pattern);
    }
}

pub(super) fn field<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if walk.in_type() {
        walk.declare(node, SymbolKind::Field, walk.field(node, "name"));
        walk.bind(walk.field(node, "name"), node.child_by_field_name("type"), None);
    }
}

pub(super) fn item<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let kind = if node.kind() == "const_item" { SymbolKind::Constant } else { SymbolKind::Variable };
    walk.declare(node, kind, walk.field(node, "name"));
    walk.bind(walk.field(node, "name"), node.child_by_field_name("type"), None);
}

/// The names that a pattern binds, and constants that it compares with: those begin with a capital.
fn names<'tree>(pattern: Node<'tree>) -> Vec<Node<'tree>> {
    /// More are in no pattern that a person wrote.
    const NODES_MAX: usize = 200;
    let (mut open, mut found, mut seen) = (vec![pattern], Vec::new(), 0);
    while let Some(node) = open.pop() {
        seen += 1;
        if seen > NODES_MAX {
            break;
        }
        match node.kind() {
            "identifier" | "shorthand_field_identifier" => found.push(node),
            kind if kind.ends_with("pattern") || kind == "parameters" || kind == "closure_parameters" => {
                let of_type = node.child_by_field_name("type");
                let mut cursor = node.walk();
                open.extend(node.named_children(&mut cursor).filter(|child| Some(*child) != of_type));
            }
            _ => {}
        }
    }
    found
}
