//! Every table that has a workspace is tied to one in every statement, by a parameter or by a join with a table that is:
//! no statement can mix two tenants by a forgotten filter.
//!
//! The texts are parsed, not searched: a filter in an `OR`, or of another table, ties nothing. Not checked here, and not
//! true: that a server which shards tables by workspace could run the statements.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Delete, Expr, FromTable, Insert, JoinConstraint, JoinOperator, Query, Select, SelectItem, SetExpr,
    Statement as Parsed, TableFactor, TableObject, TableWithJoins, Update, Value, Visit, Visitor,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use crate::statements;

/// Statements that look at all workspaces, with the reason.
const ACROSS_WORKSPACES: &[(&str, &str)] = &[
    ("doctor.rows_without_workspace", "only where foreign keys do not see to it"),
    ("jobs.due_workspaces", "asks who has work, in any workspace"),
    ("leases.notes", "an overview of all workspaces"),
    ("projects.at_places", "which workspace a folder belongs to"),
    ("projects.with_remote", "which workspace has a folder of the same project"),
    ("projects.with_root_commit", "which workspace has a folder of the same project"),
];

/// Tables whose rows belong to no workspace, and the workspaces themselves.
const EVERYWHERE: [&str; 7] =
    ["counters", "meta", "observed_time", "outgoing", "schema_version", "tokens", "workspaces"];

/// The column that a row belongs to its workspace by.
fn workspace_column(table: &str) -> &'static str {
    if table == "audit" { "chain" } else { "workspace" }
}

/// A relation of a `FROM` under the name that the statement gives it.
struct Relation<'a> {
    name: String,
    kind: Kind<'a>,
}

enum Kind<'a> {
    /// A table whose rows belong to workspaces.
    Tenant(String),
    Derived(&'a Query),
    /// A table without a workspace, or a list of parameters.
    Anywhere,
}

/// Names that stand for rows of the workspace, with the column that holds it.
type Tied = BTreeMap<String, &'static str>;

#[derive(Default)]
struct Check {
    problems: Vec<String>,
}

impl Check {
    fn statement(&mut self, statement: &Parsed) {
        match statement {
            Parsed::Query(query) => self.query(query, &Tied::new(), false),
            Parsed::Insert(insert) => self.insert(insert),
            Parsed::Update(update) => self.update(update),
            Parsed::Delete(delete) => self.delete(delete),
            other => self.problems.push(format!("a statement of another kind: {other}")),
        }
    }

    fn insert(&mut self, insert: &Insert) {
        let TableObject::TableName(table) = &insert.table else { return self.problems.push("no table".to_owned()) };
        let table = table.to_string();
        let column = insert.columns.iter().position(|it| it.to_string() == workspace_column(&table));
        let query = insert.source.as_deref();
        if !EVERYWHERE.contains(&table.as_str()) {
            let is_named = match (column, query.map(|it| it.body.as_ref())) {
                (Some(place), Some(SetExpr::Values(values))) => {
                    values.rows.iter().all(|row| is_parameter(&row.content[place]))
                }
                // What is selected is checked as any query is.
                (Some(place), Some(SetExpr::Select(select))) => select.projection[place..].first().is_some_and(
                    |item| matches!(item, SelectItem::UnnamedExpr(it) if named(it).is_some_and(|(_, it)| it == workspace_column(&table))),
                ),
                _ => false,
            };
            if !is_named {
                self.problems.push(format!("an insert into `{table}` without its workspace"));
            }
        }
        if let Some(query) = query {
            self.query(query, &Tied::new(), false);
        }
    }

    fn update(&mut self, update: &Update) {
        let relations = relations(std::slice::from_ref(&update.table));
        let tied = self.tie(&relations, update.selection.iter().collect(), &Tied::new(), &HashSet::new());
        for query in subqueries(update) {
            self.query(&query, &tied, false);
        }
    }

    fn delete(&mut self, delete: &Delete) {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let tied = self.tie(&relations(from), delete.selection.iter().collect(), &Tied::new(), &HashSet::new());
        for query in subqueries(&delete.selection) {
            self.query(&query, &tied, false);
        }
    }

    /// `is_tied` when whoever uses the query ties the workspace that it answers.
    fn query(&mut self, query: &Query, outer: &Tied, is_tied: bool) {
        self.body(&query.body, outer, is_tied);
    }

    fn body(&mut self, body: &SetExpr, outer: &Tied, is_tied: bool) {
        match body {
            SetExpr::Select(select) => self.select(select, outer, is_tied),
            SetExpr::Query(query) => self.query(query, outer, is_tied),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left, outer, is_tied);
                self.body(right, outer, is_tied);
            }
            SetExpr::Values(values) => {
                for query in subqueries(values) {
                    self.query(&query, outer, false);
                }
            }
            other => self.problems.push(format!("a body of another kind: {other}")),
        }
    }

    fn select(&mut self, select: &Select, outer: &Tied, is_tied: bool) {
        let relations = relations(&select.from);
        let mut conditions: Vec<&Expr> = select.selection.iter().collect();
        conditions.extend(select.from.iter().flat_map(|it| &it.joins).filter_map(on));
        let answered = if is_tied { answered_workspaces(select) } else { HashSet::new() };
        let tied = self.tie(&relations, conditions, outer, &answered);
        for relation in &relations {
            if let Kind::Derived(query) = relation.kind {
                self.query(query, outer, tied.contains_key(&relation.name));
            }
        }
        let mut in_expressions = Subqueries::default();
        let _ = select.projection.visit(&mut in_expressions);
        let _ = select.selection.visit(&mut in_expressions);
        let _ = select.having.visit(&mut in_expressions);
        for query in in_expressions.found {
            self.query(&query, &tied, false);
        }
    }

    /// Which relations are tied, until no condition ties another; those that are not are problems.
    fn tie(
        &mut self,
        relations: &[Relation<'_>],
        conditions: Vec<&Expr>,
        outer: &Tied,
        answered: &HashSet<String>,
    ) -> Tied {
        let conjuncts: Vec<(&Expr, &Expr)> = conditions.into_iter().flat_map(equations).collect();
        let mut tied = outer.clone();
        let with_workspace: Vec<(&str, &'static str)> =
            relations.iter().filter_map(|it| it.workspace_column().map(|column| (it.name.as_str(), column))).collect();
        // A name without its table means the only table there is.
        let is_column = |expression: &Expr, (name, column): (&str, &str)| {
            named(expression).is_some_and(|(table, found)| {
                found == column && table.map_or(with_workspace.len() == 1, |table| table == name)
            })
        };
        for (name, _) in &with_workspace {
            tied.remove(*name);
        }
        for (name, column) in &with_workspace {
            // An unqualified column of the select list.
            let is_answered = answered.contains(*name) || (answered.contains("") && with_workspace.len() == 1);
            let is_bound = conjuncts.iter().any(|(left, right)| {
                (is_column(left, (name, column)) && is_parameter(right))
                    || (is_column(right, (name, column)) && is_parameter(left))
            });
            let derives = relations.iter().any(|it| it.name == *name && it.is_bound_inside());
            if is_answered || is_bound || derives {
                tied.insert((*name).to_owned(), column);
            }
        }
        loop {
            let is_tied = |expression: &Expr| {
                named(expression).is_some_and(|(table, column)| {
                    table.is_some_and(|table| tied.get(&table).is_some_and(|it| *it == column))
                })
            };
            let next = with_workspace.iter().find(|(name, column)| {
                !tied.contains_key(*name)
                    && conjuncts.iter().any(|(left, right)| {
                        (is_column(left, (name, column)) && is_tied(right))
                            || (is_column(right, (name, column)) && is_tied(left))
                    })
            });
            let Some((name, column)) = next else { break };
            tied.insert((*name).to_owned(), column);
        }
        for relation in relations {
            if let Kind::Tenant(table) = &relation.kind
                && !tied.contains_key(&relation.name)
            {
                self.problems.push(format!("`{table}` as `{}` is tied to no workspace", relation.name));
            }
        }
        tied
    }
}

impl Relation<'_> {
    fn workspace_column(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Tenant(table) => Some(workspace_column(table)),
            Kind::Derived(_) => Some("workspace"),
            Kind::Anywhere => None,
        }
    }

    /// A derived table whose own filters name the workspace that it answers.
    fn is_bound_inside(&self) -> bool {
        let Kind::Derived(query) = self.kind else { return false };
        let mut inside = Check::default();
        inside.query(query, &Tied::new(), false);
        inside.problems.is_empty()
    }
}

fn relations(from: &[TableWithJoins]) -> Vec<Relation<'_>> {
    let factors =
        from.iter().flat_map(|it| std::iter::once(&it.relation).chain(it.joins.iter().map(|it| &it.relation)));
    factors.map(relation).collect()
}

fn relation(factor: &TableFactor) -> Relation<'_> {
    match factor {
        TableFactor::Table { name, alias, args: None, .. } => {
            let table = name.to_string();
            let name = alias.as_ref().map_or_else(|| table.clone(), |it| it.name.value.clone());
            let kind = if EVERYWHERE.contains(&table.as_str()) { Kind::Anywhere } else { Kind::Tenant(table) };
            Relation { name, kind }
        }
        TableFactor::Derived { subquery, alias, .. } => {
            let name = alias.as_ref().map_or_else(String::new, |it| it.name.value.clone());
            Relation { name, kind: Kind::Derived(subquery) }
        }
        TableFactor::Table { .. } | TableFactor::UNNEST { .. } => {
            Relation { name: String::new(), kind: Kind::Anywhere }
        }
        other => panic!("a relation of another kind: {other}"),
    }
}

fn on(join: &sqlparser::ast::Join) -> Option<&Expr> {
    match &join.join_operator {
        JoinOperator::Join(JoinConstraint::On(condition))
        | JoinOperator::Inner(JoinConstraint::On(condition))
        | JoinOperator::Left(JoinConstraint::On(condition))
        | JoinOperator::LeftOuter(JoinConstraint::On(condition)) => Some(condition),
        _ => None,
    }
}

/// What must hold for a row to be seen: the equations among conditions that `AND` joins.
fn equations(condition: &Expr) -> Vec<(&Expr, &Expr)> {
    match condition {
        Expr::Nested(inner) => equations(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => [equations(left), equations(right)].concat(),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => vec![(left, right)],
        _ => Vec::new(),
    }
}

/// The names of tables whose workspace a select answers; empty for a column that names no table.
fn answered_workspaces(select: &Select) -> HashSet<String> {
    let columns = select.projection.iter().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expression) => named(expression),
        _ => None,
    });
    columns.filter(|(_, column)| column == "workspace").map(|(table, _)| table.unwrap_or_default()).collect()
}

/// A column, with the table that it names.
fn named(expression: &Expr) -> Option<(Option<String>, String)> {
    match expression {
        Expr::Identifier(column) => Some((None, column.value.clone())),
        Expr::CompoundIdentifier(parts) => {
            let [table, column] = parts.as_slice() else { return None };
            Some((Some(table.value.clone()), column.value.clone()))
        }
        _ => None,
    }
}

fn is_parameter(expression: &Expr) -> bool {
    matches!(expression, Expr::Value(value) if matches!(value.value, Value::Placeholder(_)))
}

/// Queries within an expression; what is within those is theirs to look at.
fn subqueries(within: &impl Visit) -> Vec<Query> {
    let mut found = Subqueries::default();
    let _ = within.visit(&mut found);
    found.found
}

#[derive(Default)]
struct Subqueries {
    depth: usize,
    found: Vec<Query>,
}

impl Visitor for Subqueries {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.found.push(query.clone());
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

fn problems(sql: &str) -> Vec<String> {
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let mut check = Check::default();
    for statement in &parsed {
        check.statement(statement);
    }
    check.problems
}

#[test]
fn every_table_of_a_statement_is_tied_to_its_workspace() {
    let mut offenders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for statement in statements::ALL {
        let problems = problems(statement.postgres);
        let is_allowed = ACROSS_WORKSPACES.iter().any(|(name, _)| *name == statement.name);
        if problems.is_empty() == is_allowed {
            offenders.insert(statement.name, problems);
        }
    }
    assert!(offenders.is_empty(), "statements that mix workspaces, or exceptions that do not: {offenders:#?}");
}

#[test]
fn tables_that_need_no_tie_are_those_without_a_workspace_and_the_workspaces_themselves() {
    // Without 0007: no statement of the store knows its table, the engine alone does.
    let schema = concat!(
        include_str!("../../migrations/postgres/0006_1_create_tables.sql"),
        include_str!("../../migrations/postgres/0008_observe_time.sql"),
        include_str!("../../migrations/postgres/0010_drain.sql")
    );
    let parsed = schema.split("CREATE TABLE ").skip(1).map(|it| it.split(");").next().expect("the end of a table"));
    let mut without: Vec<&str> = parsed
        .filter(|table| !table.contains("\n  workspace ") && !table.contains("\n  chain "))
        .map(|table| table.split(' ').next().expect("a name"))
        .collect();
    without.push("workspaces");
    without.sort_unstable();
    assert_eq!(without, EVERYWHERE);
}

#[test]
fn what_is_tied_to_no_workspace_is_noticed() {
    for sql in [
        "SELECT memory FROM memories WHERE memory = $1",
        "SELECT memory FROM memories WHERE workspace = $1 OR memory = $2",
        "SELECT m.memory FROM memories m JOIN chunks c ON c.memory = m.memory WHERE m.workspace = $1",
        "SELECT m.memory FROM memories m JOIN chunks c ON c.memory = m.memory WHERE workspace = $1",
        "SELECT memory FROM memories WHERE workspace = $1 AND EXISTS (SELECT 1 FROM uses u WHERE u.memory = $2)",
        "SELECT (SELECT COUNT(*) FROM chunks) FROM memories WHERE workspace = $1",
        "SELECT memory FROM memories WHERE workspace = $1 UNION SELECT memory FROM uses",
        "SELECT o.memory FROM (SELECT memory FROM memories) o",
        "SELECT o.memory FROM (SELECT workspace, memory FROM memories) o WHERE o.memory = $1",
        "UPDATE memories SET pinned = 1 WHERE memory = $1",
        "UPDATE memories SET pinned = (SELECT COUNT(*) FROM uses) WHERE workspace = $1",
        "DELETE FROM memories WHERE memory = $1",
        "INSERT INTO uses (memory) VALUES ($1)",
        "INSERT INTO uses (workspace, memory) VALUES (1, $1)",
        "INSERT INTO uses (workspace, memory) SELECT workspace, memory FROM memories",
        "INSERT INTO audit (workspace, seq) VALUES ($1, $2)",
    ] {
        assert!(!problems(sql).is_empty(), "{sql}");
    }
}

#[test]
fn every_exception_names_a_statement_that_exists() {
    for (name, _) in ACROSS_WORKSPACES {
        assert!(statements::ALL.iter().any(|it| it.name == *name), "{name}");
    }
}
