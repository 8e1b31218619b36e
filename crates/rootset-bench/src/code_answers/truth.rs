//! What a real tool says of a tree: call sites with their targets, and the symbols of the index that the targets are.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::Context;
use rusqlite::Connection;
use serde::Deserialize;

use crate::random::Random;

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub file: String,
    pub line: i64,
}

#[derive(Debug, Deserialize)]
pub struct Site {
    pub file: String,
    pub line: i64,
    pub name: String,
    pub targets: Vec<Place>,
}

pub struct Truth {
    sites: Vec<Site>,
    by_line: HashMap<(String, i64), Vec<usize>>,
    /// The symbols of each file: first and last line, qualified name.
    symbols: HashMap<String, Vec<Symbol>>,
}

impl Truth {
    pub fn read(truth: &Path, database: &Path) -> anyhow::Result<Self> {
        let file = File::open(truth).with_context(|| format!("cannot read `{}`", truth.display()))?;
        let mut sites = Vec::new();
        for (number, line) in BufReader::new(file).lines().enumerate() {
            let line = line?;
            let site: Site = serde_json::from_str(&line)
                .with_context(|| format!("line {} of `{}` is no call site", number + 1, truth.display()))?;
            sites.push(site);
        }
        let mut by_line: HashMap<(String, i64), Vec<usize>> = HashMap::new();
        for (place, site) in sites.iter().enumerate() {
            by_line.entry((site.file.clone(), site.line)).or_default().push(place);
        }
        Ok(Self { sites, by_line, symbols: symbols(database)? })
    }

    pub fn len(&self) -> usize {
        self.sites.len()
    }

    pub fn site(&self, place: usize) -> &Site {
        &self.sites[place]
    }

    /// Sites with targets, without order.
    pub fn draw(&self, count: usize, random: &mut Random) -> Vec<usize> {
        let is_indexed = |site: &Site| self.symbols.contains_key(&site.file);
        let mut places: Vec<usize> = (0..self.sites.len())
            .filter(|place| !self.sites[*place].targets.is_empty() && is_indexed(&self.sites[*place]))
            .collect();
        for drawn in 0..count.min(places.len()) {
            let other = random.between(drawn, places.len() - 1);
            places.swap(drawn, other);
        }
        places.truncate(count);
        places
    }

    /// Drawn sites by their first target.
    pub fn by_target(&self, drawn: &[usize]) -> BTreeMap<Place, Vec<usize>> {
        let mut found: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for place in drawn {
            let site = &self.sites[*place];
            // One that is a symbol, where a call has several: a type and what makes its values.
            let target = site.targets.iter().find(|it| self.name_of(it).is_some()).or(site.targets.first());
            if let Some(target) = target {
                found.entry(target.clone()).or_default().push(*place);
            }
        }
        found
    }

    /// The qualified name of the innermost symbol at a place.
    pub fn name_of(&self, place: &Place) -> Option<&str> {
        let symbols = self.symbols.get(&place.file)?;
        let holding = symbols.iter().filter(|(first, last, _)| (*first..=*last).contains(&place.line));
        holding.min_by_key(|(first, last, _)| last - first).map(|(_, _, name)| name.as_str())
    }

    /// Whether a place is the constructor of the type of this name, or that type if the name is its constructor's.
    pub fn makes(&self, place: &Place, name: &str) -> bool {
        const CONSTRUCTORS: [&str; 4] = ["__init__", "constructor", "initialize", "__construct"];
        let Some(found) = self.name_of(place) else { return false };
        let is_made_by = |of: &str, method: &str| {
            let Some((start, last)) = method.rsplit_once(['.', ':', '#']) else { return false };
            let own = of.rsplit(['.', ':', '#']).next().unwrap_or(of);
            start.trim_end_matches(':') == of && (CONSTRUCTORS.contains(&last) || last == own)
        };
        is_made_by(found, name) || is_made_by(name, found)
    }

    /// Calls in a line, whatever their names: an alias is called under another one.
    pub fn at(&self, file: &str, line: i64) -> impl Iterator<Item = &Site> {
        let places = self.by_line.get(&(file.to_owned(), line));
        places.into_iter().flatten().map(|place| &self.sites[*place])
    }
}

/// First line, last line and qualified name.
type Symbol = (i64, i64, String);

/// Functions and types; a target is never a module.
fn symbols(database: &Path) -> anyhow::Result<HashMap<String, Vec<Symbol>>> {
    let connection = Connection::open(database)?;
    let mut statement = connection.prepare(
        "SELECT f.path, s.first_line, s.last_line, s.qualified_name FROM symbols s
         JOIN files f ON f.workspace = s.workspace AND f.memory = s.memory
         WHERE s.kind IN ('function', 'method', 'class', 'struct', 'trait', 'interface', 'enum')",
    )?;
    let mut found: HashMap<String, Vec<Symbol>> = HashMap::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.entry(row.get(0)?).or_default().push((row.get(1)?, row.get(2)?, row.get(3)?));
    }
    Ok(found)
}
