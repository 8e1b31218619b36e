//! Which workspace a folder has: real folders and real repositories, on either engine.

use std::path::{Path, PathBuf};
use std::process::Command;

use rootset_service::{Decided, Reason, Remark, Rights, WorkingFolder};
use rootset_store::{Arrival, RelatedBy};
use serde_json::json;

use crate::harness::{DAY_MS, World};

/// Repositories in a folder of their own.
struct Folders {
    world: World,
    folder: PathBuf,
}

impl Folders {
    fn new() -> Self {
        let world = World::new();
        let folder = world.folder().join("folders").to_owned();
        std::fs::create_dir_all(&folder).unwrap();
        Self { world, folder: folder.canonicalize().unwrap() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[track_caller]
    fn git(&self, folder: &str, arguments: &[&str]) {
        std::fs::create_dir_all(self.at(folder)).unwrap();
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"])
            .args(arguments);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(self.at(folder));
        let output = command.output().expect("git");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A repository with a first commit that says so, and a remote.
    fn repository(&self, folder: &str, first: &str, remote: Option<&str>) {
        self.git(folder, &["init", "-q", "-b", "main"]);
        self.git(folder, &["commit", "-q", "--allow-empty", "-m", first]);
        self.git(folder, &["commit", "-q", "--allow-empty", "-m", "second"]);
        if let Some(remote) = remote {
            self.git(folder, &["remote", "add", "origin", remote]);
        }
    }

    fn copy(&self, from: &str, to: &str) {
        std::fs::create_dir_all(self.at(to).parent().unwrap()).unwrap();
        let status = Command::new("cp").arg("-R").arg(self.at(from)).arg(self.at(to)).status().unwrap();
        assert!(status.success());
    }

    #[track_caller]
    fn decided(&self, folder: &str) -> Decided {
        let working = WorkingFolder::new(self.at(folder));
        self.world.service.workspace_around(&working, &self.world.caller).unwrap().clone()
    }

    #[track_caller]
    fn workspace(&self, folder: &str) -> String {
        self.decided(folder).workspace_id
    }

    #[track_caller]
    fn arrival(&self, folder: &str) -> (String, Arrival) {
        let decided = self.decided(folder);
        match decided.reason {
            Reason::Project { arrival, .. } => (decided.workspace_id, arrival),
            Reason::Home => panic!("{folder} has no project"),
        }
    }
}

fn related(id: &str, by: RelatedBy) -> Vec<Remark> {
    vec![Remark::Related { workspace_id: id.to_owned(), by }]
}

const REMOTE: &str = "git@example.org:acme/falcon.git";

#[test]
fn worktrees_and_folders_inside_share_and_two_repositories_of_one_name_do_not() {
    let folders = Folders::new();
    folders.repository("a/falcon", "a", None);
    folders.repository("b/falcon", "b", None);
    folders.git("a/falcon", &["worktree", "add", "-q", "../elsewhere"]);
    folders.write("a/falcon/deep/inside/x", "");
    assert_eq!(folders.arrival("a/falcon"), ("falcon".into(), Arrival::Created));
    assert_eq!(folders.arrival("a/falcon/deep/inside"), ("falcon".into(), Arrival::Known));
    assert_eq!(folders.arrival("a/elsewhere"), ("falcon".into(), Arrival::Known));
    assert_eq!(folders.arrival("b/falcon"), ("falcon-2".into(), Arrival::Created));
    assert_eq!(folders.decided("b/falcon").remarks, []);
    // What a command would have to find out again is known.
    assert_eq!(folders.workspace("b/falcon"), "falcon-2");
}

#[test]
fn a_worktree_that_is_seen_first_has_the_name_of_its_repository() {
    let folders = Folders::new();
    folders.repository("falcon", "a", None);
    folders.git("falcon", &["worktree", "add", "-q", "../branch"]);
    assert_eq!(folders.workspace("branch"), "falcon");
    assert_eq!(folders.arrival("falcon"), ("falcon".into(), Arrival::Known));
}

#[test]
fn a_clone_joins_where_remote_and_first_commit_agree_and_is_only_named_where_one_does() {
    let folders = Folders::new();
    folders.repository("falcon", "first", Some(REMOTE));
    assert_eq!(folders.workspace("falcon"), "falcon");
    // However the remote is written.
    folders.git(".", &["clone", "-q", "falcon", "clone"]);
    folders.git("clone", &["remote", "set-url", "origin", "https://token@EXAMPLE.org:443/acme/falcon"]);
    assert_eq!(folders.arrival("clone"), ("falcon".into(), Arrival::Joined));
    // From a template: the same first commit.
    folders.git(".", &["clone", "-q", "falcon", "templated"]);
    folders.git("templated", &["remote", "set-url", "origin", "git@example.org:acme/other.git"]);
    let decided = folders.decided("templated");
    assert_eq!(
        (decided.workspace_id.as_str(), decided.remarks),
        ("templated", related("falcon", RelatedBy::RootCommit))
    );
    // Shallow: the first commit that it knows is not the first.
    let url = format!("file://{}", folders.at("falcon").display());
    folders.git(".", &["clone", "-q", "--depth", "1", &url, "shallow"]);
    folders.git("shallow", &["remote", "set-url", "origin", REMOTE]);
    let decided = folders.decided("shallow");
    assert_eq!((decided.workspace_id.as_str(), decided.remarks), ("shallow", related("falcon", RelatedBy::Remote)));
}

#[test]
fn archives_that_pretend_to_be_a_repository_see_nothing_of_it() {
    let folders = Folders::new();
    folders.repository("falcon", "first", Some(REMOTE));
    assert_eq!(folders.workspace("falcon"), "falcon");
    let git = folders.at("falcon/.git");
    let head = std::fs::read_to_string(git.join("refs/heads/main")).unwrap();
    // Its remote, with another history.
    folders.repository("forged/falcon", "mine", Some(REMOTE));
    // A pointer, as worktrees and submodules have one; relative, and through a link.
    folders.write("pointer/falcon/.git", &format!("gitdir: {}\n", git.display()));
    folders.write("relative/falcon/.git", "gitdir: ../../falcon/.git\n");
    std::fs::create_dir_all(folders.at("link/falcon")).unwrap();
    std::os::unix::fs::symlink(&git, folders.at("link/falcon/.git")).unwrap();
    // A repository that says that its other half is over there.
    folders.write("commondir/falcon/.git/HEAD", "ref: refs/heads/main\n");
    folders.write("commondir/falcon/.git/commondir", "../../../falcon/.git\n");
    // One that borrows the objects, by a link and as git does it.
    let config = format!("[remote \"origin\"]\n\turl = {REMOTE}\n");
    for name in ["borrowed", "alternates", "listed"] {
        folders.write(&format!("{name}/falcon/.git/HEAD"), &head);
        folders.write(&format!("{name}/falcon/.git/config"), &config);
    }
    std::os::unix::fs::symlink(git.join("objects"), folders.at("borrowed/falcon/.git/objects")).unwrap();
    let objects = git.join("objects").display().to_string();
    folders.write("alternates/falcon/.git/objects/info/alternates", &format!("{objects}\n"));
    // Only the id of the commit.
    std::fs::create_dir_all(folders.at("listed/falcon/.git/objects")).unwrap();
    for (number, name) in
        ["forged", "pointer", "relative", "link", "commondir", "borrowed", "alternates", "listed"].iter().enumerate()
    {
        let (workspace, arrival) = folders.arrival(&format!("{name}/falcon"));
        assert_eq!((workspace, arrival), (format!("falcon-{}", number + 2), Arrival::Created), "{name}");
    }
}

#[test]
fn an_index_that_lies_about_its_objects_proves_nothing() {
    let folders = Folders::new();
    folders.repository("falcon", "first", Some(REMOTE));
    assert_eq!(folders.workspace("falcon"), "falcon");
    let first_of = |folder: &str| {
        let mut command = Command::new("git");
        let output = command.args(["rev-list", "--max-parents=0", "HEAD"]).current_dir(folders.at(folder)).output();
        String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
    };
    let root = first_of("falcon");
    // The object of another commit, under the id of the one that would have to be known.
    folders.repository("forged", "mine", Some(REMOTE));
    let own = first_of("forged");
    let object = |id: &str| folders.at(&format!("forged/.git/objects/{}/{}", &id[..2], &id[2..]));
    std::fs::create_dir_all(object(&root).parent().unwrap()).unwrap();
    std::fs::copy(object(&own), object(&root)).unwrap();
    folders.write("forged/.git/refs/heads/main", &format!("{root}\n"));
    assert_eq!(folders.workspace("forged"), "forged");
}

#[test]
fn nothing_that_a_repository_configures_is_executed() {
    let folders = Folders::new();
    folders.repository("hostile", "first", Some(REMOTE));
    let trap = folders.at("trap");
    let script = folders.at("script");
    std::fs::write(&script, format!("#!/bin/sh\ntouch {}\n", trap.display())).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.display().to_string();
    for key in
        ["core.fsmonitor", "core.sshCommand", "core.pager", "core.alternateRefsCommand", "gpg.program", "core.editor"]
    {
        folders.git("hostile", &["config", key, &script]);
    }
    folders.git("hostile", &["config", "extensions.partialClone", "origin"]);
    folders.git("hostile", &["config", "remote.origin.promisor", "true"]);
    folders.git("hostile", &["config", "remote.origin.uploadpack", &script]);
    for hook in ["post-index-change", "reference-transaction", "post-checkout"] {
        std::fs::copy(&script, folders.at(&format!("hostile/.git/hooks/{hook}"))).unwrap();
    }
    // An object is missing, which git would fetch.
    let head = std::fs::read_to_string(folders.at("hostile/.git/refs/heads/main")).unwrap();
    std::fs::remove_file(folders.at(&format!("hostile/.git/objects/{}/{}", &head[..2], head[2..].trim()))).unwrap();
    assert_eq!(folders.workspace("hostile"), "hostile");
    assert!(!trap.exists(), "a repository had something executed");
}

#[test]
fn a_place_stays_linked_and_gains_what_appears_later() {
    let folders = Folders::new();
    // A folder, then a repository, then a first commit, then a remote: the same project all along.
    folders.write("falcon/rootset.toml", "");
    assert_eq!(folders.arrival("falcon"), ("falcon".into(), Arrival::Created));
    folders.git("falcon", &["init", "-q", "-b", "main"]);
    assert_eq!(folders.arrival("falcon"), ("falcon".into(), Arrival::Known));
    folders.git("falcon", &["commit", "-q", "--allow-empty", "-m", "first"]);
    folders.git("falcon", &["remote", "add", "origin", REMOTE]);
    assert_eq!(folders.arrival("falcon"), ("falcon".into(), Arrival::Known));
    folders.git(".", &["clone", "-q", "falcon", "clone"]);
    folders.git("clone", &["remote", "set-url", "origin", REMOTE]);
    assert_eq!(folders.arrival("clone"), ("falcon".into(), Arrival::Joined));
    folders.git("clone", &["remote", "set-url", "origin", "git@example.org:acme/renamed.git"]);
    assert_eq!(folders.arrival("clone"), ("falcon".into(), Arrival::Known));
    // A person's word stands, whatever is found there later.
    folders.repository("own", "own", Some("git@example.org:acme/own.git"));
    assert_eq!(folders.workspace("own"), "own");
    folders.world.service.link_project(&folders.world.caller, &folders.at("own"), "falcon").unwrap();
    std::fs::remove_dir_all(folders.at("own")).unwrap();
    folders.repository("own", "another", Some("git@example.org:acme/third.git"));
    assert_eq!(folders.arrival("own"), ("falcon".into(), Arrival::Known));
}

#[test]
fn another_repository_in_the_place_of_one_that_is_gone_is_another_project() {
    let folders = Folders::new();
    folders.repository("download", "first", Some(REMOTE));
    assert_eq!(folders.workspace("download"), "download");
    std::fs::rename(folders.at("download"), folders.at("kept")).unwrap();
    folders.repository("download", "another", Some("git@example.org:evil/other.git"));
    assert_eq!(folders.arrival("download"), ("download-2".into(), Arrival::Created));
    assert_eq!(folders.arrival("kept"), ("download".into(), Arrival::Joined), "it was moved");
    assert_eq!(folders.arrival("download"), ("download-2".into(), Arrival::Known));
}

#[test]
fn names_of_projects_are_never_those_that_mean_something_else() {
    let folders = Folders::new();
    for (name, workspace) in
        [("home", "home-2"), ("default", "default-2"), ("personal", "personal-2"), ("auto", "auto-2")]
    {
        folders.write(&format!("{name}/rootset.toml"), "");
        assert_eq!(folders.workspace(name), workspace);
    }
    let outside = folders.decided(".");
    assert_eq!((outside.workspace_id.as_str(), outside.reason), ("home", Reason::Home));
}

#[test]
fn a_name_in_the_projects_own_file_counts_once_a_person_allowed_it() {
    let folders = Folders::new();
    folders.world.call("create_workspace", json!({"workspace_id": "secrets"}));
    folders.write("lure/rootset.toml", "workspace = \"secrets\"\n");
    let decided = folders.decided("lure");
    let untrusted = |id: &str| vec![Remark::Untrusted { workspace_id: id.to_owned() }];
    assert_eq!((decided.workspace_id.as_str(), decided.remarks), ("lure", untrusted("secrets")));
    let trust = || folders.world.service.trust_declared_workspace(&folders.world.caller, &folders.at("lure")).unwrap();
    assert_eq!(trust(), "secrets");
    let decided = folders.decided("lure");
    assert_eq!((decided.workspace_id.as_str(), decided.remarks), ("secrets", vec![]));
    // Another name is another question.
    folders.write("lure/rootset.toml", "workspace = \"more-secrets\"\n");
    let decided = folders.decided("lure");
    assert_eq!((decided.workspace_id.as_str(), decided.remarks), ("secrets", untrusted("more-secrets")));
    assert_eq!(trust(), "more-secrets");
    assert_eq!(folders.workspace("lure"), "more-secrets");
}

#[test]
fn whoever_is_confined_links_claims_and_makes_nothing() {
    let folders = Folders::new();
    folders.write("falcon/rootset.toml", "workspace = \"team\"\n");
    let mut agent = folders.world.caller.clone();
    agent.rights = Rights { workspaces: Some(["home".to_owned()].into()), ..Rights::default() };
    let service = &folders.world.service;
    let folder = folders.at("falcon");
    let refused = [
        service.workspace_around(&WorkingFolder::new(folder.clone()), &agent).map(|_| ()).unwrap_err(),
        service.link_project(&agent, &folder, "home").map(|_| ()).unwrap_err(),
        service.trust_declared_workspace(&agent, &folder).map(|_| ()).unwrap_err(),
        service.dismiss_related(&agent, &folder).map(|_| ()).unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.code.as_str(), "forbidden", "{error}");
    }
    let ids = folders.world.call("list_workspaces", json!({}))["workspaces"].clone();
    assert_eq!(ids.as_array().unwrap().len(), 1, "{ids}");
}

#[test]
fn what_may_belong_together_is_named_until_a_person_decides() {
    let folders = Folders::new();
    folders.repository("falcon", "first", Some(REMOTE));
    folders.workspace("falcon");
    folders.repository("other", "mine", Some(REMOTE));
    let service = &folders.world.service;
    assert_eq!(folders.decided("other").remarks, related("falcon", RelatedBy::Remote));
    folders.world.advance_ms(DAY_MS);
    assert_eq!(folders.decided("other").remarks, related("falcon", RelatedBy::Remote));
    let dismissed = |folder: &Path| service.dismiss_related(&folders.world.caller, folder).unwrap();
    assert_eq!(dismissed(&folders.at("other")).as_deref(), Some("falcon"));
    assert_eq!(dismissed(&folders.at("other")), None);
    assert_eq!(folders.decided("other").remarks, []);
    folders.copy("other", "third");
    assert_eq!(folders.arrival("third"), ("other".into(), Arrival::Joined));
    service.link_project(&folders.world.caller, &folders.at("third"), "falcon").unwrap();
    assert_eq!(folders.workspace("third"), "falcon");
    assert_eq!(folders.workspace("other"), "other");
}

#[test]
fn a_deleted_workspace_comes_back_to_its_folder_and_a_purged_one_makes_room() {
    let folders = Folders::new();
    folders.repository("falcon", "first", None);
    let id = folders.workspace("falcon");
    let delete = || {
        let request = json!({"workspace_id": id, "confirm_phrase": format!("DELETE {id}")});
        folders.world.call("delete_workspace", request)["run_id"].clone()
    };
    let run = delete();
    assert_eq!(folders.arrival("falcon"), ("falcon".into(), Arrival::Known), "nothing else takes its place");
    folders.world.call("gc_undo", json!({"workspace_id": id, "run_id": run}));
    assert_eq!(folders.arrival("falcon"), ("falcon".into(), Arrival::Known));
    let run = delete();
    folders.world.call("gc_purge", json!({"workspace_id": id, "run_id": run, "confirm": true}));
    assert_eq!(folders.arrival("falcon"), ("falcon".into(), Arrival::Created));
    assert_eq!(folders.world.call("doctor", json!({}))["ok"], true);
}

#[test]
fn folders_come_back_with_a_backup_of_the_database_and_not_with_a_copy_of_a_workspace() {
    let folders = Folders::new();
    folders.repository("falcon", "first", Some(REMOTE));
    folders.repository("later", "later", None);
    let id = folders.workspace("falcon");
    folders
        .world
        .call("add_memory", json!({"workspace_id": id, "name": "note", "context": "Falcon deploys on Fridays."}));
    let backup = folders.world.call("backup_create", json!({"format": "jsonl"}))["backup_id"].clone();
    // Linked since the backup was made.
    folders.world.service.link_project(&folders.world.caller, &folders.at("later"), "falcon").unwrap();
    folders.world.call("backup_restore", json!({"backup_id": backup, "confirm": true}));
    assert_eq!(folders.arrival("falcon"), (id.clone(), Arrival::Known));
    assert_eq!(folders.arrival("later"), (id.clone(), Arrival::Known), "what was linked stays linked");
    let copy = json!({"backup_id": backup, "workspace_id": id, "into_workspace_id": "copy", "confirm": true});
    folders.world.call("backup_restore", copy);
    assert_eq!(folders.arrival("falcon"), (id, Arrival::Known));
    let folders_of_copy = folders.world.service.folders_of_workspace(&folders.world.caller, "copy").unwrap();
    assert_eq!(folders_of_copy, Vec::<String>::new());
    // On a new machine.
    let fresh = World::new();
    let from = folders.world.backup_folder().join(backup.as_str().unwrap());
    fresh.call("backup_restore", json!({"backup_id": from.join("").display().to_string(), "confirm": true}));
    let working = WorkingFolder::new(folders.at("falcon"));
    assert_eq!(fresh.service.workspace_around(&working, &fresh.caller).unwrap().workspace_id, "falcon");
}
