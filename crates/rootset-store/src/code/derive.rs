//! What a file contributes to the graph: its symbols, what it imports, and what its types extend.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rootset_model::code::{Outline, PACKAGE_MARK, SymbolKind};
use rootset_model::{EntityId, RelationId};

const DEFINES: &str = "defines";
const IMPORTS: &str = "imports";
const INHERITS: &str = "inherits";

/// The graph rows of a whole batch, each once and in the order of their keys: neighbours in the index are written
/// together.
#[derive(Debug, Default)]
pub(super) struct Graph<'a> {
    pub entities: BTreeMap<EntityId, (&'a str, SymbolKind)>,
    pub relations: BTreeMap<RelationId, (EntityId, &'static str, EntityId)>,
}

/// What one file vouches for, each object once, in the order of their keys; entities with the words about them.
#[derive(Debug, Default)]
pub(super) struct Vouched<'a> {
    pub entities: BTreeMap<EntityId, Option<&'a str>>,
    pub relations: BTreeSet<RelationId>,
}

impl Vouched<'_> {
    pub fn holds(&self, object: &[u8; 16]) -> bool {
        self.entities.contains_key(&EntityId(*object)) || self.relations.contains(&RelationId(*object))
    }
}

impl<'a> Graph<'a> {
    pub fn add(&mut self, outline: &'a Outline) -> Vouched<'a> {
        let mut vouched = Vouched::default();
        let mut ids = Vec::with_capacity(outline.symbols.len());
        for symbol in &outline.symbols {
            // Values are found by their names; as rows of the graph they would be most of it.
            if symbol.kind.is_value() {
                ids.push(None);
                continue;
            }
            let id = EntityId::derive_symbol(&symbol.qualified_name, symbol.kind);
            self.entities.insert(id, (&symbol.qualified_name, symbol.kind));
            let signature = Some(symbol.signature.as_str()).filter(|it| !it.is_empty());
            let words = vouched.entities.entry(id).or_default();
            *words = words.or(signature);
            if let Some(parent) = symbol.parent.and_then(|parent| ids.get(parent as usize).copied().flatten()) {
                self.relate(&mut vouched, parent, DEFINES, id);
            }
            ids.push(Some(id));
        }
        // Targets repeat: a file names `app.store` once per name that it takes from it.
        let mut targets: HashMap<(&str, SymbolKind), EntityId> = HashMap::new();
        let imports = outline.references.imports.iter().map(|it| (0, IMPORTS, &it.target, SymbolKind::Module));
        let bases = outline.references.bases.iter().map(|it| (it.symbol as usize, INHERITS, &it.target, it.kind));
        for (place, verb, target, kind) in imports.chain(bases) {
            let target = target.strip_prefix(PACKAGE_MARK).unwrap_or(target);
            let Some(&Some(source)) = ids.get(place).filter(|_| !target.is_empty()) else { continue };
            let target = *targets.entry((target, kind)).or_insert_with(|| {
                let id = EntityId::derive_symbol(target, kind);
                self.entities.entry(id).or_insert((target, kind));
                vouched.entities.entry(id).or_default();
                id
            });
            self.relate(&mut vouched, source, verb, target);
        }
        vouched
    }

    fn relate(&mut self, vouched: &mut Vouched<'a>, source: EntityId, verb: &'static str, target: EntityId) {
        // Two symbols of one name and kind are one entity, which does not define itself.
        if source != target {
            let id = RelationId::derive_symbol(source, verb, target);
            self.relations.insert(id, (source, verb, target));
            vouched.relations.insert(id);
        }
    }
}
