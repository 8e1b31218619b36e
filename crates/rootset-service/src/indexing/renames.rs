//! Files that moved: gone here, new there, with the same content. The memory moves with them, with its id and its uses.
//!
//! Pure, and in the same order every time: first pairs that keep their name, then by path.

use std::collections::BTreeMap;

/// A file's path and the hash of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved<'a> {
    pub path: &'a str,
    pub content_hash: [u8; 16],
}

/// Pairs of places: of what is missing, and of what is new. Both lists are in the order of their paths.
pub fn pair(missing: &[Moved<'_>], new: &[Moved<'_>]) -> Vec<(usize, usize)> {
    let mut by_content: BTreeMap<[u8; 16], (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (place, file) in missing.iter().enumerate() {
        by_content.entry(file.content_hash).or_default().0.push(place);
    }
    for (place, file) in new.iter().enumerate() {
        if let Some((_, places)) = by_content.get_mut(&file.content_hash) {
            places.push(place);
        }
    }
    let mut pairs = Vec::new();
    for (mut from, mut to) in by_content.into_values() {
        from.retain(|&old| {
            let name = file_name(missing[old].path);
            let Some(position) = to.iter().position(|&place| file_name(new[place].path) == name) else { return true };
            pairs.push((old, to.remove(position)));
            false
        });
        pairs.extend(from.into_iter().zip(to));
    }
    pairs.sort_unstable();
    pairs
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files<'a>(list: &[(&'a str, u8)]) -> Vec<Moved<'a>> {
        list.iter().map(|&(path, content)| Moved { path, content_hash: [content; 16] }).collect()
    }

    #[test]
    fn file_with_the_same_content_elsewhere_is_the_same_file() {
        assert_eq!(pair(&files(&[("a.py", 1)]), &files(&[("b/a.py", 2), ("c.py", 1)])), [(0, 1)]);
    }

    #[test]
    fn equal_contents_go_by_name_first_and_then_by_path() {
        let missing = files(&[("a/__init__.py", 1), ("a/empty.py", 1), ("a/x.py", 1)]);
        let new = files(&[("b/x.py", 1), ("b/y.py", 1), ("b/z.py", 1)]);
        assert_eq!(pair(&missing, &new), [(0, 1), (1, 2), (2, 0)]);
    }

    #[test]
    fn nothing_is_paired_twice() {
        assert_eq!(pair(&files(&[("a.py", 1)]), &files(&[("b.py", 1), ("c.py", 1)])), [(0, 0)]);
        assert_eq!(pair(&files(&[("a.py", 1), ("b.py", 1)]), &files(&[("c.py", 1)])), [(0, 0)]);
    }
}
