//! Parameters, variables and members: what they are, as far as it is written.

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::walk::Walk;

/// A function without a name, or one whose name was told before: its parameters are its own.
pub(super) fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    parameters(walk, node);
}

pub(super) fn signature<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.returns(node.child_by_field_name("return_type"));
    parameters(walk, node);
}

fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>) {
    // `x => …`
    if let Some(only) = function.child_by_field_name("parameter") {
        return walk.parameter(walk.text(only), None);
    }
    let Some(list) = function.child_by_field_name("parameters") else { return };
    for parameter in list.named_children(&mut list.walk()) {
        let of_type = parameter.child_by_field_name("type");
        let pattern = match parameter.kind() {
            "required_parameter" | "optional_parameter" => parameter.child_by_field_name("pattern"),
            "assignment_pattern" => parameter.child_by_field_name("left"),
            _ => Some(parameter),
        };
        let Some(pattern) = pattern else { continue };
        for name in names(pattern) {
            walk.parameter(walk.text(name), of_type.filter(|_| name == pattern));
        }
        // `constructor(private readonly store: Store)`
        let mut cursor = parameter.walk();
        let is_member =
            parameter.children(&mut cursor).any(|it| matches!(it.kind(), "accessibility_modifier" | "readonly"));
        if is_member {
            let from = walk.told(of_type, None);
            walk.declare_own(parameter, walk.text(pattern));
            walk.own_member(walk.text(pattern), from);
        }
    }
}

pub(super) fn declared<'tree>(
    walk: &mut Walk<'_, 'tree>,
    node: Node<'tree>,
    pattern: Node<'tree>,
    value: Option<Node<'tree>>,
) {
    let of_type = node.child_by_field_name("type");
    // `const { a, b: c } = store`: members of what is on the right.
    let of = value.filter(|_| pattern.kind() == "object_pattern").and_then(|value| walk.told(None, Some(value)));
    if let Some(of) = of {
        for part in pattern.named_children(&mut pattern.walk()) {
            let (key, name) = match part.kind() {
                "shorthand_property_identifier_pattern" => (walk.text(part), Some(part)),
                "pair_pattern" => (walk.field(part, "key"), part.child_by_field_name("value")),
                _ => ("", None),
            };
            match name.filter(|name| name.kind() != "object_pattern" && !key.is_empty()) {
                Some(name) if names(name) == [name] => walk.bind_to(walk.text(name), Some([&of, ".", key].concat())),
                _ => names(part).into_iter().for_each(|name| walk.bind_to(walk.text(name), None)),
            }
        }
        return;
    }
    for name in names(pattern) {
        if name == pattern {
            walk.bind(walk.text(name), of_type, value);
        } else {
            walk.bind_to(walk.text(name), None);
        }
    }
}

pub(super) fn member<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if walk.in_type() {
        walk.declare(node, SymbolKind::Property, walk.field(node, "name"));
        walk.bind(walk.field(node, "name"), node.child_by_field_name("type"), None);
    }
}

pub(super) fn each<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    unknown(walk, node.child_by_field_name("left"));
}

pub(super) fn caught<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    unknown(walk, node.child_by_field_name("parameter"));
}

fn unknown<'tree>(walk: &mut Walk<'_, 'tree>, pattern: Option<Node<'tree>>) {
    for name in pattern.into_iter().flat_map(names) {
        walk.parameter(walk.text(name), None);
    }
}

/// The names that a pattern binds.
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
            "identifier" | "shorthand_property_identifier_pattern" => found.push(node),
            "pair_pattern" => open.extend(node.child_by_field_name("value")),
            "assignment_pattern" | "object_assignment_pattern" => open.extend(node.child_by_field_name("left")),
            "object_pattern" | "array_pattern" | "rest_pattern" => {
                open.extend(node.named_children(&mut node.walk()));
            }
            _ => {}
        }
    }
    found
}
