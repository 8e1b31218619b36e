//! The service speaks of operations and fields; a person at a terminal has commands and options.

use rootset_api::catalogue;

/// What the service says, and what it is called here. Longer phrases first.
const WORDS: &[(&str, &str)] = &[
    ("`update_memory` with `pinned: false`", "`rootset edit ID --unpin`"),
    ("`gc_undo` with this `workspace_id`", "`rootset undo --workspace ID`"),
    ("can be undone by `memory_id`", "can be undone by id or name"),
    ("`kinds` must be", "`--kind` must be"),
    ("`forget`", "`rootset forget`"),
    ("`gc_apply`", "`rootset gc apply`"),
    ("`list_trash`", "`rootset trash`"),
    ("`update_memory`", "`rootset edit`"),
    ("`add_memory`", "`rootset add`"),
    ("`defrag`", "`rootset defrag`"),
    ("`context_list_sessions`", "`rootset context list`"),
    ("`context_gc_analyze`", "`rootset context analyze`"),
    ("`context_gc_prune`", "`rootset context prune`"),
    ("`context_restore`", "`rootset context restore`"),
    ("`context_import`", "`rootset context import`"),
    ("`context_compress`", "`rootset context compress`"),
    ("`backup_list`", "`rootset backup list`"),
    ("`backup_create`", "`rootset backup create`"),
    ("`gc_undo`", "`rootset undo`"),
    ("`list_repos`", "`rootset code repos`"),
    ("`prune_memory`", "`rootset prune`"),
    ("`accept_missing: true`", "`--accept-missing`"),
    ("`create_workspace`", "`rootset workspace create`"),
    ("`drain_id`", "`--drain`"),
    ("`list_tokens`", "`rootset token list`"),
    ("`revoke_token`", "`rootset token revoke`"),
    ("`create_token`", "`rootset token create`"),
    ("`rotate_token`", "`rootset token rotate`"),
    ("`allow_large: true`", "`--allow-large`"),
    ("`without_ledger: true`", "`--without-ledger`"),
    ("`search_memory`", "`rootset search`"),
    ("`gc_purge`", "`rootset gc purge`"),
    ("`doctor`", "`rootset doctor`"),
    ("`restore: true`", "`--restore`"),
    ("`receipt` and `rewrite_backups`", "`--receipt` and `--backups`"),
];

/// What has a command of its own is named by it, any other operation by `rootset call`.
pub fn for_people(text: &str) -> String {
    let said = WORDS.iter().fold(text.to_owned(), |text, (operation, command)| text.replace(operation, command));
    catalogue().iter().fold(said, |text, operation| {
        let named = format!("`{}`", operation.name);
        if text.contains(&named) { text.replace(&named, &format!("`rootset call {}`", operation.name)) } else { text }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_become_commands() {
        assert_eq!(for_people("`get_plan` lists the ids"), "`rootset call get_plan` lists the ids");
        assert_eq!(for_people("it is there; `gc_undo` restores it"), "it is there; `rootset undo` restores it");
    }
}
