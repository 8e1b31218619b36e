//! `import_graph` and `export_graph`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use rootset_api::{EntityAnswer, ExportGraph, ExportedGraph, GraphFormat, ImportGraph, ImportedGraph, RelationAnswer};
use rootset_model::EntityId;
use rootset_model::identity::normalise;
use rootset_model::limits::{DESCRIPTION_CHARS_MAX, EXTRACTED_NAME_CHARS_MAX, IMPORT_ROWS_MAX};
use rootset_store::{ImportedEntity, ImportedRelation, StoreError, Workspace};
use rootset_text::terms;

use super::entities::{entity_answer, named};
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::check_short_text;
use crate::operation::Operation;
use crate::service::Service;

/// The type of an end that nobody gave one.
const TYPE_DEFAULT: &str = "term";

impl Operation for ImportGraph {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ImportedGraph, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let rows = self.entities.len() + self.relations.len();
        if rows == 0 {
            return Err(ServiceError::invalid("`entities` and `relations` are both empty"));
        }
        if rows > IMPORT_ROWS_MAX {
            return Err(ServiceError::invalid(format!(
                "`entities` and `relations` have {rows} items, more than {IMPORT_ROWS_MAX}"
            )));
        }
        if self.format == Some(GraphFormat::Graphml) {
            return Err(ServiceError::invalid("`format`: a graph is imported from `json`, not from `graphml`"));
        }
        let mut import = Import {
            service,
            workspace: &workspace,
            entities: Vec::new(),
            types: HashMap::new(),
            types_by_id: HashMap::new(),
        };
        for entity in self.entities {
            let entity_type = entity.entity_type.unwrap_or_else(|| TYPE_DEFAULT.to_owned());
            import.add(&entity.name, &entity_type, entity.description.filter(|it| !it.is_empty()))?;
            import.types_by_id.extend(entity.entity_id.map(|id| (id, entity_type)));
        }
        let mut relations: Vec<ImportedRelation> = Vec::new();
        for relation in &self.relations {
            check_name("relation", &relation.relation)?;
            let source_type = relation.source_type.as_deref();
            let source = import.end("source", &relation.source, source_type, relation.source_id.as_deref())?;
            let target_type = relation.target_type.as_deref();
            let target = import.end("target", &relation.target, target_type, relation.target_id.as_deref())?;
            relations.push(ImportedRelation { source, relation: relation.relation.trim().to_owned(), target });
        }
        let imported = service.store.import_graph(
            &workspace,
            &import.entities,
            &relations,
            service.next_run_id(),
            service.settings.grace_ms,
            service.stamp(caller),
        )?;
        Ok(ImportedGraph { run_id: imported.run, entities: imported.entities, relations: imported.relations })
    }
}

struct Import<'a> {
    service: &'a Service,
    workspace: &'a Workspace,
    entities: Vec<ImportedEntity>,
    /// Types by normalised name, of what this import brings.
    types: HashMap<String, Vec<String>>,
    /// Types by the ids that an export gives its entities.
    types_by_id: HashMap<String, String>,
}

impl Import<'_> {
    fn add(&mut self, name: &str, entity_type: &str, description: Option<String>) -> Result<EntityId, ServiceError> {
        check_name("name", name)?;
        check_name("type", entity_type)?;
        if let Some(description) = &description {
            check_short_text("description", description, DESCRIPTION_CHARS_MAX)?;
        }
        let (name, entity_type) = (name.trim(), entity_type.trim().to_lowercase());
        let id = EntityId::derive(name, &entity_type);
        let types = self.types.entry(normalise(name)).or_default();
        if !types.contains(&entity_type) {
            types.push(entity_type.clone());
            let terms = terms::index_terms(name);
            self.entities.push(ImportedEntity { name: name.to_owned(), entity_type, description, terms });
        }
        Ok(id)
    }

    /// The end of a relation: as typed, else the one of that id or name in this import, else in the workspace, else a new
    /// one. A relation makes its ends untracked too, so each is part of the import.
    fn end(
        &mut self,
        field: &str,
        name: &str,
        given_type: Option<&str>,
        id: Option<&str>,
    ) -> Result<EntityId, ServiceError> {
        check_name(field, name)?;
        let by_id = id.and_then(|id| self.types_by_id.get(id)).map(String::as_str);
        let entity_type = match (given_type.or(by_id), self.types.get(&normalise(name)).map(Vec::as_slice)) {
            (Some(known), _) => known.to_owned(),
            (None, Some([one])) => one.clone(),
            (None, Some(several)) if id.is_none() => {
                return Err(ServiceError::conflict(format!("`{field}`: `{name}` matches several entities"))
                    .with_hint(format!("give `{field}_type`, one of: {}", several.join(", "))));
            }
            (None, _) => self.type_in_workspace(name, id)?,
        };
        self.add(name, &entity_type, None)
    }

    fn type_in_workspace(&self, name: &str, id: Option<&str>) -> Result<String, ServiceError> {
        for reference in id.into_iter().chain([name]) {
            match self.service.store.entity(self.workspace, reference, self.service.now()) {
                Ok((found, _)) => return Ok(found.entity_type),
                Err(StoreError::EntityNotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(TYPE_DEFAULT.to_owned())
    }
}

fn check_name(field: &str, name: &str) -> Result<(), ServiceError> {
    if name.trim().is_empty() {
        return Err(ServiceError::invalid(format!("`{field}` is blank")));
    }
    check_short_text(field, name, EXTRACTED_NAME_CHARS_MAX)
}

impl Operation for ExportGraph {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ExportedGraph, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (entities, relations) = service.store.export_graph(&workspace, service.now())?;
        let relations = named(service, &workspace, &entities, &relations)?;
        let entities: Vec<EntityAnswer> = entities.into_iter().map(entity_answer).collect();
        let format = self.format.unwrap_or_default();
        Ok(match format {
            GraphFormat::Json => {
                ExportedGraph { format, entities: Some(entities), relations: Some(relations), graphml: None }
            }
            GraphFormat::Graphml => {
                let graphml = Some(graphml(&entities, &relations));
                ExportedGraph { format, entities: None, relations: None, graphml }
            }
        })
    }
}

fn graphml(entities: &[EntityAnswer], relations: &[RelationAnswer]) -> String {
    let mut xml = String::from(concat!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
        "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n",
        "  <key id=\"type\" for=\"node\" attr.name=\"type\" attr.type=\"string\"/>\n",
        "  <key id=\"description\" for=\"node\" attr.name=\"description\" attr.type=\"string\"/>\n",
        "  <key id=\"origin\" for=\"all\" attr.name=\"origin\" attr.type=\"string\"/>\n",
        "  <key id=\"relation\" for=\"edge\" attr.name=\"relation\" attr.type=\"string\"/>\n",
        "  <graph edgedefault=\"directed\">\n",
    ));
    let data = |xml: &mut String, key: &str, value: &str| {
        write!(xml, "<data key=\"{key}\">{}</data>", escaped(value)).expect("writing to a string cannot fail");
    };
    for entity in entities {
        write!(xml, "    <node id=\"{}\">", entity.entity_id).expect("writing to a string cannot fail");
        data(&mut xml, "name", &entity.name);
        data(&mut xml, "type", &entity.entity_type);
        data(&mut xml, "description", &entity.description);
        data(&mut xml, "origin", &entity.origin);
        xml.push_str("</node>\n");
    }
    for relation in relations {
        write!(
            xml,
            "    <edge id=\"{}\" source=\"{}\" target=\"{}\">",
            relation.relation_id, relation.source_id, relation.target_id
        )
        .expect("writing to a string cannot fail");
        data(&mut xml, "relation", &relation.relation);
        data(&mut xml, "origin", &relation.origin);
        xml.push_str("</edge>\n");
    }
    xml.push_str("  </graph>\n</graphml>\n");
    xml
}

/// Escapes for text and attributes; control characters that XML cannot hold become blanks.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() && !matches!(c, '\t' | '\n' | '\r') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
