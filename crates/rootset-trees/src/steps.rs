//! How a tree begins, and what may happen to it between two runs of the index.

use std::io;

use rand::Rng;
use rand::seq::{IndexedMutRandom, IndexedRandom, IteratorRandom};

use crate::scope::IndexScope;
use crate::source::{Function, Language, Source, name};
use crate::tree::{Entry, Tree};

const FOLDERS: [&str; 8] = ["", "src/", "src/core/", "app/", "app/tests/", "lib/größe/", "with blank/", "docs/"];
const STEMS: [&str; 9] = ["main", "core", "util", "orders", "test_orders", "orders_test", "__init__", "mod", "naïve"];
const IGNORE_RULES: [&str; 6] = ["*.go\n", "app/\n", "core.*\n", "/src/core\n", "docs\n!docs/main.md\n", "*.md\n"];
/// Hundreds of bytes: some of the files are above, some below.
const FILE_BYTES_MAX: [i64; 3] = [150, 400, 900];
const EARLIER_MAX: usize = 6;

impl Tree {
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        for _ in 0..self.random.random_range(4..12) {
            self.add_source()?;
        }
        for _ in 0..self.random.random_range(1..4) {
            self.add_odd_file()?;
        }
        Ok(())
    }

    /// Changes the tree, or the scope, and says how.
    pub fn step(&mut self) -> io::Result<String> {
        self.earlier.push(self.entries.clone());
        if self.earlier.len() > EARLIER_MAX {
            self.earlier.remove(0);
        }
        let changes = if self.random.random_bool(0.25) { self.random.random_range(2..6) } else { 1 };
        let mut said = Vec::new();
        for _ in 0..changes {
            said.push(self.change()?);
        }
        Ok(said.join(", "))
    }

    /// So many files in folders of their own, new or rewritten: work for a run that is to be interrupted.
    pub fn write_many(&mut self, files: usize) -> io::Result<()> {
        for number in 0..files {
            let language = Language::ALL[number % Language::ALL.len()];
            let source = Source::random(language, &mut self.random);
            let path = format!("many/m{}/f{number}.{}", number % 7, language.extension());
            self.put(&path, Entry::Source(source))?;
        }
        Ok(())
    }

    fn change(&mut self) -> io::Result<String> {
        let Some(path) = self.any_file() else {
            self.fill()?;
            return Ok("fill an empty tree".into());
        };
        let choice = self.random.random_range(0..26);
        match choice {
            0..=2 => self.edit(&path, "edit a body in", |it, random| {
                if let Some(function) = it.functions.choose_mut(random) {
                    function.constant += 1;
                }
            }),
            3..=4 => self.edit(&path, "add a function to", |it, random| {
                let place = random.random_range(0..=it.functions.len());
                it.functions.insert(place, Function::random(random));
            }),
            5..=6 => self.edit(&path, "remove a function from", |it, random| {
                if !it.functions.is_empty() {
                    it.functions.remove(random.random_range(0..it.functions.len()));
                }
            }),
            7..=8 => self.edit(&path, "rename a function in", |it, random| {
                if let Some(function) = it.functions.choose_mut(random) {
                    function.name = name(random);
                }
            }),
            9 => self.edit(&path, "reverse the functions of", |it, _| it.functions.reverse()),
            10..=11 => {
                let to = self.any_place(&path);
                self.rename(&path, &to)?;
                Ok(format!("move {path} to {to}"))
            }
            12 => {
                let (to, entry) = (self.any_place(&path), self.entries[&path].clone());
                self.put(&to, entry)?;
                Ok(format!("copy {path} to {to}"))
            }
            13 => {
                let Some(other) = self.any_file().filter(|other| *other != path) else { return self.touch_one(&path) };
                self.swap(&path, &other)?;
                Ok(format!("swap {path} and {other}"))
            }
            14..=15 => {
                self.remove(&path)?;
                Ok(format!("delete {path}"))
            }
            16 => self.restore_one(),
            17 => {
                let earlier = self.earlier.choose(&mut self.random).expect("this very step is there").clone();
                self.revert(&earlier)?;
                Ok(format!("go back to a tree of {} files", earlier.len()))
            }
            18 => self.touch_one(&path),
            19 => self.change_scope(),
            20 => {
                let folder = ["", "src/"].choose(&mut self.random).expect("there are folders");
                let file = [".gitignore", ".rootsetignore"].choose(&mut self.random).expect("there are names");
                let rule = IGNORE_RULES.choose(&mut self.random).expect("there are rules");
                self.put(&format!("{folder}{file}"), Entry::Bytes(rule.as_bytes().to_vec()))?;
                Ok(format!("ignore {} by {folder}{file}", rule.trim()))
            }
            21 => {
                let entry = self.entries[&path].clone();
                self.put(&format!("{path}/main.py"), entry)?;
                Ok(format!("make {path} a folder"))
            }
            22 => {
                let target = self.any_file().unwrap_or_else(|| "/etc/hostname".into());
                let up = "../".repeat(path.matches('/').count());
                self.put(&path, Entry::Link(format!("{up}{target}")))?;
                Ok(format!("make {path} a link to {target}"))
            }
            23 => self.edit_unnoticed(&path),
            24 => self.add_source(),
            _ => self.add_odd_file(),
        }
    }

    fn edit(
        &mut self,
        path: &str,
        what: &str,
        change: impl FnOnce(&mut Source, &mut rand::rngs::StdRng),
    ) -> io::Result<String> {
        let Entry::Source(mut source) = self.entries[path].clone() else { return self.touch_one(path) };
        change(&mut source, &mut self.random);
        if self.random.random_bool(0.5) {
            self.overwrite(path, Entry::Source(source))?;
        } else {
            self.put(path, Entry::Source(source))?;
        }
        Ok(format!("{what} {path}"))
    }

    /// A digit changes, and neither the length nor the time of modification.
    fn edit_unnoticed(&mut self, path: &str) -> io::Result<String> {
        let Entry::Source(mut source) = self.entries[path].clone() else { return self.touch_one(path) };
        if let Some(function) = source.functions.first_mut() {
            function.constant ^= 1;
        }
        self.overwrite_unnoticed(path, Entry::Source(source))?;
        Ok(format!("edit {path} under its old time"))
    }

    fn touch_one(&mut self, path: &str) -> io::Result<String> {
        self.touch(path)?;
        Ok(format!("touch {path}"))
    }

    fn restore_one(&mut self) -> io::Result<String> {
        let gone = self
            .earlier
            .iter()
            .flatten()
            .filter(|(path, _)| !self.entries.contains_key(*path))
            .map(|(path, entry)| (path.clone(), entry.clone()))
            .choose(&mut self.random);
        let Some((path, entry)) = gone else { return self.add_source() };
        self.put(&path, entry)?;
        Ok(format!("bring {path} back"))
    }

    fn change_scope(&mut self) -> io::Result<String> {
        let random = &mut self.random;
        let languages = [vec!["python"], vec!["rust", "go"], vec!["typescript", "markdown"]];
        self.scope = IndexScope {
            languages: random.random_bool(0.3).then(|| languages.choose(random).expect("there are some").clone()),
            include_tests: [None, Some(true), Some(false)].choose(random).copied().expect("there are three"),
            file_bytes_max: random.random_bool(0.3).then(|| *FILE_BYTES_MAX.choose(random).expect("there are three")),
        };
        Ok(format!("look at {:?}", self.scope))
    }

    fn add_source(&mut self) -> io::Result<String> {
        let language = *Language::ALL.choose(&mut self.random).expect("there are languages");
        let source = Source::random(language, &mut self.random);
        let (folder, stem) = (self.any_folder(), self.any_stem());
        let path = format!("{folder}{stem}.{}", language.extension());
        self.put(&path, Entry::Source(source))?;
        Ok(format!("write {path}"))
    }

    /// What repositories hold beside source code, the unreadable included.
    fn add_odd_file(&mut self) -> io::Result<String> {
        let number = self.random.random_range(0..1_000);
        let (file, bytes): (&str, Vec<u8>) = match self.random.random_range(0..12) {
            0 => ("README.md", format!("# Read me\n\nThe number is {number}.\n\n## More\n\nSee `core.py`.\n").into()),
            1 => ("notes.md", "# Notes\n\nwithout a number".into()),
            2 => ("empty.py", Vec::new()),
            3 => ("mark.py", format!("\u{feff}def marked_{number}():\n    pass\n").into()),
            4 => ("logo.png", vec![0x89, b'P', b'N', b'G', 0, 1, 2, number as u8]),
            5 => ("latin.py", [b"def umlaut():\n    return '".as_slice(), &[0xe4, 0xf6], b"'\n"].concat()),
            6 => ("settings.toml", format!("[server]\nport = {number}\n").into()),
            7 => (".env", format!("API_TOKEN=very-private-{number}\n").into()),
            8 => ("broken.rs", format!("pub fn half_{number}( {{ [ \"unterminated").into()),
            9 => ("long.js", format!("var a=[{}];\n", "1234567,".repeat(700)).into()),
            10 => ("script", format!("#!/usr/bin/env python3\ndef run_{number}():\n    pass\n").into()),
            _ => ("LICENSE", "Do as you please.\n".into()),
        };
        let path = format!("{}{file}", self.any_folder());
        self.put(&path, Entry::Bytes(bytes))?;
        Ok(format!("write {path}"))
    }

    /// Not a link: those are only ever replaced.
    fn any_file(&mut self) -> Option<String> {
        let files = self.entries.iter().filter(|(_, entry)| !matches!(entry, Entry::Link(_)));
        files.map(|(path, _)| path.clone()).choose(&mut self.random)
    }

    /// A new path for this file: another folder, another stem, or both, and rarely another extension.
    fn any_place(&mut self, path: &str) -> String {
        let (folder, file) = path.rsplit_once('/').map_or(("", path), |(folder, file)| (folder, file));
        let extension = file.rsplit_once('.').map_or("py", |(_, extension)| extension).to_owned();
        match self.random.random_range(0..5) {
            0 | 1 => format!("{}{file}", self.any_folder()),
            2 if folder.is_empty() => format!("{}.{extension}", self.any_stem()),
            2 => format!("{folder}/{}.{extension}", self.any_stem()),
            3 => format!("{}{}.{extension}", self.any_folder(), self.any_stem()),
            _ => format!("{}{}.md", self.any_folder(), self.any_stem()),
        }
    }

    fn any_folder(&mut self) -> &'static str {
        FOLDERS.choose(&mut self.random).expect("there are folders")
    }

    fn any_stem(&mut self) -> &'static str {
        STEMS.choose(&mut self.random).expect("there are stems")
    }
}
