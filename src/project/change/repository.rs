//! Git in a work tree: its commands, and the tree of what is there now.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use walkdir::WalkDir;

use super::command::{self, bytes, failed, failure, output, run, unwritable};
use super::index::Index;
use super::terms::{Changed, Content, REPOSITORY, SUBMODULE, Unknown};
use crate::chart::Scope;
use crate::hash::Hash;
use crate::os::file::{Version, path};
use crate::os::regular::open_to_read;
use crate::project::{ledger, state_file};
use crate::text::shown;

/// How many of the newest commits can be those of a reviewer.
const NEWEST: usize = 50;

/// How many digits a hash has in a repository with the newer format.
const SHA256: usize = 64;

/// How much of a file git looks at to find out whether it is text.
const START: u64 = 8000;

/// A file that is larger is not read: one that git does not track, and one that it does.
const LARGE: u64 = 1024 * 1024;
const LARGE_TRACKED: u64 = 16 * LARGE;

/// The mode of a submodule, and of no file.
const GITLINK: &str = "160000";
const NO_FILE: &str = "000000";

/// What a text in UTF-16 begins with.
const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// Marks in the index hide nothing that is there.
const PRESENT: [&str; 4] =
    ["-c", "core.sparseCheckout=true", "-c", "sparse.expectFilesOutsideOfPatterns=false"];

/// How many files a command line names: it has an end.
const CHUNK: usize = 500;

/// The ends of the names of files that programs write to pin versions.
const LOCKS: [&str; 5] = [".lock", "-lock.json", "-lock.yaml", ".lockb", "go.sum"];

/// Git in one work tree.
pub(super) struct Repository<'r> {
    pub(super) root: &'r Path,
    /// Where the objects of the change are.
    objects: &'r Path,
    /// What is in no tree of the change, as lists of pathspecs.
    left_out: Vec<Vec<String>>,
}

impl<'r> Repository<'r> {
    /// Returns that of the work tree at `root`; `objects` is where the objects of the change are.
    pub(super) const fn of(root: &'r Path, objects: &'r Path) -> Self {
        Self { root, objects, left_out: Vec::new() }
    }

    /// Limits the trees of the change to these files and folders, if there are any, without what instances keep: that says how
    /// the work goes on, and is no part of it.
    pub(super) fn limited(self, paths: &[String], scope: &Scope) -> Self {
        let shared = scope.settings.map(|chart| (chart.home(), chart.folder()));
        let (home, folder) = shared.unwrap_or((&scope.home, &scope.folder));
        let kept = ["*.md", state_file::FILE, ledger::FILE, ".gitignore", "*.log"].into_iter();
        let kept = kept.map(|file| format!(":(top,glob)**/{home}/{folder}/*/{file}"));
        // A review of a plan has a line written there.
        let ignored = scope.settings.is_none().then(|| format!(":(top,glob)**/{home}/.gitignore"));
        let kept = kept.chain(ignored).collect();
        let paths = paths.iter().map(|path| format!(":(top,exclude,literal){path}"));
        let mut others: Vec<String> = paths.collect();
        if !others.is_empty() {
            others.push(":/".to_owned());
        }
        let left_out = [kept, others].into_iter().filter(|specs| !specs.is_empty());
        Self { left_out: left_out.collect(), ..self }
    }

    /// Returns the commit of HEAD; the empty tree where there is none.
    pub(super) fn head(&self) -> Result<String, Unknown> {
        let head = self.id("HEAD^{commit}")?;
        head.map_or_else(|| self.empty_tree(), Ok)
    }

    /// Returns the commit that the user has named.
    pub(super) fn commit(&self, name: &str) -> Result<String, Unknown> {
        self.id(&format!("{name}^{{commit}}"))?.ok_or_else(|| {
            let help = "name a branch, a tag or a commit; in CI, it has to be fetched first";
            Unknown::new(format!("there is no commit `{}`", shown(name)), help)
        })
    }

    /// Returns whether the clone has only a part of the history.
    pub(super) fn is_shallow(&self) -> Result<bool, Unknown> {
        let said = self.ask(&["rev-parse", "--is-shallow-repository"])?;
        Ok(said.as_deref() == Some("true"))
    }

    /// Returns whether git has a tree with all that is in it.
    pub(super) fn is_whole(&self, id: &str) -> Result<bool, Unknown> {
        let tree = format!("{id}^{{tree}}");
        let found = self.ask(&["rev-list", "--objects", "--quiet", &tree])?;
        Ok(found.is_some())
    }

    /// Returns a tree without any file.
    pub(super) fn empty_tree(&self) -> Result<String, Unknown> {
        let empty = self.git(&["hash-object", "-t", "tree", "--stdin"])?;
        let empty =
            { empty }.output().map_err(|error| Unknown::new(error.to_string(), "install git"))?;
        Ok(String::from_utf8_lossy(&empty.stdout).trim_end().to_owned())
    }

    /// Returns a command that sees the objects of the change.
    pub(super) fn git(&self, args: &[&str]) -> Result<Command, Unknown> {
        command::git(self.root, self.objects, args)
    }

    /// Returns what a command prints; `None` if it fails.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Option<String>, Unknown> {
        let output = run(&mut self.git(args)?)?;
        Ok(output.ok().map(|text| text.trim_end().to_owned()))
    }

    /// Returns the id of what `name` names; `None` if it names nothing.
    pub(super) fn id(&self, name: &str) -> Result<Option<String>, Unknown> {
        self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])
    }

    /// Returns a new index without any file, whose objects are stored apart.
    fn index(&self) -> Result<Index<'r>, Unknown> {
        Index::new(self.root, self.objects, self.stored()?)
    }

    /// Returns where the repository has its objects.
    fn stored(&self) -> Result<PathBuf, Unknown> {
        let objects = self.ask(&["rev-parse", "--git-path", "objects"])?;
        let objects = objects.map(|path| self.root.join(path));
        objects.ok_or_else(|| Unknown::new("this is no git repository", "run `git init`"))
    }

    /// Copies into the repository what its index and its newest commits refer to, but which is only among the objects of the
    /// change: a program that sees those stores nothing that is there already.
    pub(super) fn keep_what_is_referred_to(&self) -> Result<(), Unknown> {
        let newest = format!("--max-count={NEWEST}");
        let mut list = self.git(&["rev-list", "--objects", "--missing=allow-any"])?;
        list.args(["--indexed-objects", "--all", &newest]);
        let listed = run(&mut list)?.map_err(failed)?;
        let stored = self.stored()?;
        let ids = listed.lines().filter_map(|line| line.split(' ').next());
        for (folder, name) in ids.filter_map(|id| id.split_at_checked(2)) {
            let (apart, own) = (self.objects.join(folder), stored.join(folder));
            if !apart.join(name).is_file() || own.join(name).exists() {
                continue;
            }
            let copied = fs::create_dir_all(&own).and_then(|()| {
                let new = tempfile::Builder::new().prefix("tmp_obj_").tempfile_in(&own)?;
                fs::copy(apart.join(name), &new)?;
                new.persist(own.join(name)).map_err(io::Error::from)
            });
            copied.map_err(|error| unwritable(&own, &error))?;
        }
        Ok(())
    }

    /// Writes what is in the work tree as a tree. Returns it, and the files whose content is not in it. Something in their place
    /// shows which version is there, apart from those, returned last, that no tree can name: whether they have changed is unknown.
    pub(super) fn write_tree(&self) -> Result<(String, Vec<Changed>, Vec<Changed>), Unknown> {
        let index = self.index()?;
        let own = self.ask(&["rev-parse", "--git-path", "index"])?;
        let own = own.map(|path| self.root.join(path));
        // Its own stat data saves reading what has not changed.
        if let Some(own) = own.filter(|own| own.exists()) {
            copy_with_time(&own, &index.path())
                .map_err(|error| failed(format!("git's index cannot be copied: {error}")))?;
        }
        let list = |args: &[&str]| bytes(index.git(&PRESENT)?.args(args))?.map_err(failed);
        let listed = list(&["ls-files", "-z", "-v", "--stage"])?;
        let is_submodule = |line: &[u8]| line.get(2..8) == Some(GITLINK.as_bytes());
        let has_submodules = listed.split(|byte| *byte == 0).any(is_submodule);
        // What is marked as unchanged is read all the same.
        let marked = listed.split(|byte| *byte == 0).filter_map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            line.first()?.is_ascii_lowercase().then(|| &line[tab + 1..])
        });
        let marked: Vec<&[u8]> = marked.collect();
        index.update("--no-assume-unchanged", &marked.join(&0))?;
        let differing = || {
            let options = ["ls-files", "-z", "-t", "--others", "--modified"];
            list(&[&options[..], &["--exclude-standard", "--", ":/"]].concat())
        };
        let listed = differing()?;
        let mut unread: Vec<(&[u8], &'static str)> = Vec::new();
        let mut specs = b":/".to_vec();
        for line in listed.split(|byte| *byte == 0) {
            // Of a file, git says first whether it is tracked.
            let (name, limit, why) = match line.split_at_checked(2) {
                Some((b"? ", name)) => (name, LARGE, "untracked and larger than 1 MB"),
                Some((_, name)) => (name, LARGE_TRACKED, "larger than 16 MB"),
                None => continue,
            };
            let meta = self.root.join(path(name)).symlink_metadata();
            let is_large = meta.is_ok_and(|meta| meta.is_file() && meta.len() > limit);
            // A repository in the repository has a slash.
            let (name, why) = match name.strip_suffix(b"/") {
                Some(name) => (name, REPOSITORY),
                None if is_large => (name, why),
                None => continue,
            };
            specs.extend([b"\0:(exclude,literal,top)", name].concat());
            unread.push((name, why));
        }
        let paths = index.folder.path().join("paths");
        fs::write(&paths, specs).map_err(|error| unwritable(&paths, &error))?;
        let paths = format!("--pathspec-from-file={}", paths.display());
        let add = || {
            let mut add = index.git(&PRESENT)?;
            add.args(["add", "--all", "--sparse", "--ignore-errors", "--pathspec-file-nul"]);
            let added = output(add.arg(&paths))?;
            let why = (!matches!(added.status.code(), Some(0 | 1))).then(|| failure(&add, &added));
            why.map_or(Ok(Ok(added.status.success())), |why| Ok(Err(failed(why))))
        };
        let are_all = add()?.or_else(|_| {
            // The program of a filter is missing, or an encoding is another one: files are stored as they are.
            let _ = index.attributes.set(self.empty_tree()?);
            add()?
        })?;
        // One file that git cannot store, such as `.GIT/x`, hides none of the others.
        let refused = if are_all { Vec::new() } else { differing()? };
        let refused = refused.split(|byte| *byte == 0).filter_map(|line| line.get(2..));
        let known: HashSet<&[u8]> = unread.iter().map(|(name, _)| *name).collect();
        let refused = refused.map(|name| name.strip_suffix(b"/").unwrap_or(name));
        let refused = refused.filter(|name| !known.contains(name));
        unread.extend(refused.map(|name| (name, "git cannot store it")));
        let idents = list(&["ls-files", "-z", "--", ":(top,attr:ident)"])?;
        let is_hiding = |name: &&[u8]| self.text(&path(name), u64::MAX).is_some_and(has_own_ident);
        let hiding = idents.split(|byte| *byte == 0).filter(is_hiding);
        unread.extend(hiding.map(|name| (name, "git's `ident` hides a part of it")));
        let open = if has_submodules { self.open_submodules()? } else { Vec::new() };
        unread.extend(open.iter().map(|name| (name.as_bytes(), SUBMODULE)));
        let empty = self.empty_tree()?;
        let entries = unread.iter().flat_map(|(name, why)| {
            let file = self.root.join(path(name));
            // Another work tree of this repository belongs to other work.
            let is_other = *why == REPOSITORY && file.join(".git").is_file();
            let version = version(&file, if is_other { 0 } else { usize::MAX });
            let entry = format!("{GITLINK} {:.*}\t", empty.len(), version).into_bytes();
            [entry, name.to_vec(), vec![0]].concat()
        });
        index.update("--index-info", &entries.collect::<Vec<u8>>())?;
        let left = if unread.is_empty() { Vec::new() } else { differing()? };
        let left = left.split(|byte| *byte == 0).filter_map(|line| line.strip_prefix(b"? "));
        let left: HashSet<&[u8]> =
            left.map(|name| name.strip_suffix(b"/").unwrap_or(name)).collect();
        self.leave_out(&index)?;
        let tree = index.write(&["write-tree"])?;
        let (nameless, unread): (Vec<_>, Vec<_>) =
            unread.into_iter().partition(|(name, _)| left.contains(name));
        let [unread, nameless] = [unread, nameless].map(|files| {
            let files = files.into_iter().map(|(name, why)| Changed {
                path: String::from_utf8_lossy(name).into_owned(),
                lines: None,
                content: match self.is_text(&path(name)) && !left.contains(name) {
                    true => Content::InFile(why),
                    false => Content::Unknown(why),
                },
            });
            files.collect()
        });
        Ok((tree, unread, nameless))
    }

    /// Takes what is left out of the change out of an index.
    fn leave_out(&self, index: &Index<'_>) -> Result<(), Unknown> {
        for specs in &self.left_out {
            let mut list = index.git(&["ls-files", "-z", "--"])?;
            index.update("--force-remove", &bytes(list.args(specs))?.map_err(failed)?)?;
        }
        Ok(())
    }

    /// Returns a tree without what is left out of the change.
    pub(super) fn without(&self, tree: String) -> Result<String, Unknown> {
        let index = self.index()?;
        index.write(&["read-tree", &tree])?;
        self.leave_out(&index)?;
        // What a partial clone lacks, it need not have for this.
        index.write(&["write-tree", "--missing-ok"])
    }

    /// Returns the submodules in which something is not committed: no tree of this repository has that.
    fn open_submodules(&self) -> Result<Vec<String>, Unknown> {
        let mut git = self.git(&["status", "--porcelain=v2", "-z", "--untracked-files=normal"])?;
        let status = run(git.arg("--ignore-submodules=none"))?.map_err(failed)?;
        let open = status.split('\0').filter_map(|line| {
            let mut words = line.strip_prefix("1 ")?.splitn(8, ' ');
            // `S`, and then what is different in it: its commit, a file, a new file.
            let is_open = words.nth(1)?.get(2..)?.contains(['M', 'U']);
            is_open.then_some(words.nth(5)?.to_owned())
        });
        Ok(open.collect())
    }

    /// Returns the files that differ between two trees.
    pub(super) fn files(&self, trees: [&str; 2]) -> Result<Vec<Changed>, Unknown> {
        let mut git = self.git(&[
            "diff",
            "--raw",
            "--numstat",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
        ])?;
        let listed = run(git.args(trees).arg("--"))?;
        let listed = listed.map_err(|why| {
            Unknown::new(why, "in a partial clone, `git diff` by hand fetches what it lacks")
        })?;
        // Each entry of the first list is followed by its path.
        let mut lines = listed.split('\0').filter(|line| !line.is_empty()).peekable();
        let (mut submodules, mut gone) = (HashSet::new(), HashSet::new());
        while let Some(entry) = lines.next_if(|line| line.starts_with(':')) {
            let path = lines.next();
            match entry[1..].split(' ').nth(1) {
                Some(GITLINK) => submodules.extend(path),
                Some(NO_FILE) => gone.extend(path),
                _ => {}
            }
        }
        let mut files: Vec<Changed> = lines
            .filter_map(|line| {
                let mut parts = line.splitn(3, '\t');
                let (added, removed, path) = (parts.next()?, parts.next()?, parts.next()?);
                let lines = added.parse().ok().zip(removed.parse().ok());
                let content = match lines {
                    _ if submodules.contains(path) => {
                        Content::Unknown("a submodule: its content is not shown")
                    }
                    None if gone.contains(path) => Content::Removed,
                    None if self.is_text(Path::new(path)) => {
                        Content::InFile("not shown by `git diff`")
                    }
                    None => Content::Unknown("binary"),
                    Some(_) if LOCKS.iter().any(|end| path.ends_with(end)) => Content::Generated,
                    Some(_) => Content::InDiff,
                };
                let lines = lines.filter(|_| !submodules.contains(path));
                Some(Changed { path: path.to_owned(), lines, content })
            })
            .collect();
        let generated = self.generated(trees[0], &files)?;
        for file in &mut files {
            if file.content == Content::InDiff && generated.contains(&file.path) {
                file.content = Content::Generated;
            }
        }
        Ok(files)
    }

    /// Returns the first bytes of a file of the work tree; `None` if it is none, or cannot be read.
    fn text(&self, path: &Path, length: u64) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let (file, _) = open_to_read(&self.root.join(path)).ok()?;
        file.take(length).read_to_end(&mut text).ok()?;
        Some(text)
    }

    /// Returns whether a file is text, whatever attributes and settings say of it.
    fn is_text(&self, path: &Path) -> bool {
        let start = self.text(path, START);
        start.is_some_and(|start| {
            !start.contains(&0) || UTF_16.iter().any(|mark| start.starts_with(mark))
        })
    }

    /// Returns the files that the `.gitattributes` of a tree call generated: a change says nothing of itself.
    fn generated(&self, tree: &str, files: &[Changed]) -> Result<HashSet<String>, Unknown> {
        let mut found = HashSet::new();
        if files.is_empty() {
            return Ok(found);
        }
        let index = self.index()?;
        if run(&mut index.git(&["read-tree", tree])?)?.is_err() {
            return Ok(found);
        }
        let apart = index.folder.path().join("apart");
        make_apart(&apart, tree).map_err(|error| unwritable(&apart, &error))?;
        for some in files.chunks(CHUNK) {
            let mut git = index.git(&["-c", "core.attributesFile=/dev/null", "check-attr"])?;
            git.args(["--cached", "-z", "linguist-generated", "--"]);
            git.args(some.iter().map(|file| &file.path))
                .env("GIT_DIR", &apart)
                .env("GIT_ATTR_NOSYSTEM", "1");
            let attributes = run(&mut git)?.unwrap_or_default();
            let words: Vec<&str> = attributes.split('\0').collect();
            let set = words.chunks_exact(3).filter(|row| matches!(row[2], "set" | "true"));
            found.extend(set.map(|row| row[0].to_owned()));
        }
        Ok(found)
    }
}

/// Returns whether git stores `$Id$` for something that it has not written itself.
fn has_own_ident(text: Vec<u8>) -> bool {
    let parts = text.split(|byte| *byte == b'$').filter_map(|part| part.strip_prefix(b"Id:"));
    let mut idents = parts.filter(|part| !part.contains(&b'\n')).map(<[u8]>::trim_ascii);
    idents.any(|ident| !ident.iter().all(u8::is_ascii_hexdigit))
}

/// Returns a hash of what the file system says of a file, or of all in a folder, `depth` levels deep: which version is there.
fn version(path: &Path, depth: usize) -> String {
    // No git looks into another repository: that can name programs of its own.
    let files = WalkDir::new(path).max_depth(depth);
    let files = files.sort_by_file_name().into_iter();
    let mut hash = Hash::default();
    for file in files.filter_entry(|file| file.file_name() != ".git").flatten() {
        let meta = file.metadata().ok().filter(|meta| !meta.is_dir());
        hash.add(file.path().as_os_str().as_encoded_bytes());
        hash.add(format!("{:?}", meta.as_ref().map(Version::of)));
    }
    hash.text()
}

/// Makes a git directory for a reader of this tree: no attributes but those in it count there.
fn make_apart(dir: &Path, tree: &str) -> io::Result<()> {
    for folder in ["objects", "refs"] {
        fs::create_dir_all(dir.join(folder))?;
    }
    fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")?;
    if tree.len() == SHA256 {
        let config = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n";
        fs::write(dir.join("config"), config)?;
    }
    Ok(())
}

/// Copies a file with the time of its last change. Git reads a file that is not older than its index, since its stat data
/// may hide a change made in the same second; a copy that seems newer would hide it for good.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let time = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(time)
}
