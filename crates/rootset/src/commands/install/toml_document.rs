//! One table of a TOML text, put in or taken out; every other byte stays, comments too.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::entry::{Entry, NAME};

/// The text with the entry in it, or without it. An error says in words what is wrong with the text.
pub fn edited(text: &str, servers: &str, entry: Option<&Entry>) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    if !document.contains_key(servers) {
        if entry.is_none() {
            return Ok(text.to_owned());
        }
        // Without a heading of its own: `[mcp_servers.rootset]` says it all.
        let mut table = Table::new();
        table.set_implicit(true);
        document.insert(servers, Item::Table(table));
    }
    let no_table = || format!("`{servers}` is not a table");
    let list = document.get_mut(servers).and_then(Item::as_table_like_mut).ok_or_else(no_table)?;
    match (list.contains_key(NAME), entry) {
        (_, Some(entry)) => put(list, entry),
        (true, None) => drop(list.remove(NAME)),
        (false, None) => return Ok(text.to_owned()),
    }
    Ok(document.to_string())
}

/// Sets only what differs: whoever gave the entry an environment keeps it.
fn put(list: &mut dyn TableLike, entry: &Entry) {
    let is_ours = |item: &Item| item.as_table_like().is_some_and(|fields| !fields.contains_key("url"));
    if !list.get(NAME).is_some_and(is_ours) {
        list.insert(NAME, Item::Table(Table::new()));
    }
    let Some(fields) = list.get_mut(NAME).and_then(Item::as_table_like_mut) else { return };
    if fields.get("command").and_then(Item::as_str) != Some(entry.command.as_str()) {
        fields.insert("command", value(entry.command.as_str()));
    }
    let has_arguments = fields.get("args").and_then(Item::as_array).is_some_and(|found| {
        found.iter().map(toml_edit::Value::as_str).eq(entry.arguments.iter().map(|argument| Some(argument.as_str())))
    });
    if !has_arguments {
        fields.insert("args", value(entry.arguments.iter().collect::<Array>()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry { command: "/bin/rootset".to_owned(), arguments: vec!["mcp".to_owned()], confinement: String::new() }
    }

    #[test]
    fn entry_goes_in_and_out_of_a_text_that_stays_as_it_is_to_the_byte() {
        let texts = [
            "",
            "# mine\nmodel = \"o3\" # the best\n",
            "model = \"o3\"\n\n[mcp_servers.other]\ncommand = 'x'   # odd\n\n[tui]\ntheme = \"dark\"\n",
            "mcp_servers = { other = { command = \"x\" } }\n",
        ];
        for text in texts {
            let with = edited(text, "mcp_servers", Some(&entry())).unwrap();
            assert!(with.contains("command = \"/bin/rootset\""), "{with}");
            assert_eq!(edited(&with, "mcp_servers", Some(&entry())).unwrap(), with, "twice is once");
            assert_eq!(edited(&with, "mcp_servers", None).unwrap(), text);
        }
    }

    #[test]
    fn fields_that_others_gave_the_entry_stay() {
        let text = "[mcp_servers.rootset]\ncommand = \"old\"\nstartup_timeout_sec = 5 # slow disk\n";
        let with = edited(text, "mcp_servers", Some(&entry())).unwrap();
        assert!(with.contains("startup_timeout_sec = 5 # slow disk"), "{with}");
        assert!(with.contains("command = \"/bin/rootset\""), "{with}");
    }

    #[test]
    fn text_that_is_not_toml_is_refused() {
        edited("[mcp_servers", "mcp_servers", Some(&entry())).unwrap_err();
        assert_eq!(
            edited("mcp_servers = 1\n", "mcp_servers", Some(&entry())).unwrap_err(),
            "`mcp_servers` is not a table"
        );
    }
}
