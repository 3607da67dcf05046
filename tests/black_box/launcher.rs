//! The launcher in the plugins' `bin`: which program it starts, and the release that it downloads from a server on
//! loopback. Its environment is what a host sets up: a copy of the plugin, a clone of the marketplace, and a data
//! folder.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Ran, Temporary, feed, temporary};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the launcher needs to start a program that has already been chosen: nothing.
const NOTHING: &[&str] = &[];

/// What it needs to choose an installed program.
const TO_CHOOSE: &[&str] = &["sed", "mkdir", "ln", "mv", "rm", "sleep"];

/// What it needs to download a program.
const TO_DOWNLOAD: &[&str] = &[
    "sed",
    "mkdir",
    "ln",
    "mv",
    "rm",
    "uname",
    "tar",
    "gzip",
    "sha256sum",
    "curl",
    "sh",
    "cat",
    "sleep",
];

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/taskie")
}

fn target() -> &'static str {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", "aarch64") => "aarch64-apple-darwin",
        ("macos", _) => "x86_64-apple-darwin",
        (_, "aarch64") => "aarch64-unknown-linux-musl",
        _ => "x86_64-unknown-linux-musl",
    }
}

/// The path of a release below the address of its repository.
fn asset() -> String {
    format!("releases/download/v{VERSION}/{}.tar.gz", archive_name())
}

fn archive_name() -> String {
    format!("taskie-{VERSION}-{}", target())
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    crate::support::script(path, text);
}

/// A program that prints this version, and otherwise its arguments and its stdin.
fn stand_in(version: &str) -> String {
    format!("if [ \"$1\" = --version ]; then echo '{version}'; else echo \"$*: $(cat)\"; fi")
}

/// How the server answers.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Whole,
    Missing,
    Slow,
}

/// A server on loopback with one file, the release. It ends with the test.
struct Server {
    address: String,
    /// The first line of each request.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(release: Vec<u8>, answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (release, log) = (release.clone(), Arc::clone(&log));
                std::thread::spawn(move || serve(stream, &release, answer, &log));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, release: &[u8], answer: Answer, log: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let request = lines.next().unwrap().unwrap();
    while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
    log.lock().unwrap().push(request.clone());
    if answer == Answer::Slow {
        std::thread::sleep(Duration::from_millis(300));
    }
    // A request to a proxy contains the whole address.
    let is_there = answer != Answer::Missing && request.contains(&format!("/{} ", asset()));
    let _ = match is_there {
        true => write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            release.len()
        )
        .and_then(|()| stream.write_all(release)),
        false => write!(
            stream,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ),
    };
}

/// A user's machine on which a host has installed the plugin.
struct Machine {
    temp: Temporary,
    plugin: PathBuf,
    clone: PathBuf,
    data: PathBuf,
    /// The only folder on PATH.
    bin: PathBuf,
}

impl Machine {
    /// With only these tools on PATH. The paths need quoting in a shell.
    fn new(tools: &[&str]) -> Self {
        let temp = temporary();
        let host = temp.path().join("it's a \"host\"/plugins");
        let machine = Self {
            plugin: host.join("cache/taskie/taskie").join(VERSION),
            clone: host.join("marketplaces/taskie"),
            data: host.join("data/taskie-taskie"),
            bin: temp.path().join("bin"),
            temp,
        };
        fs::create_dir_all(machine.plugin.join("bin")).unwrap();
        fs::create_dir_all(&machine.bin).unwrap();
        fs::create_dir_all(machine.project().join(".taskie")).unwrap();
        fs::copy(plugin().join("bin/taskie"), machine.launcher()).unwrap();
        fs::create_dir_all(machine.plugin.join(".claude-plugin")).unwrap();
        for file in [".claude-plugin/marketplace.json", "Cargo.toml"] {
            let file = machine.clone.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        for tool in tools {
            let mut found = ["/bin", "/usr/bin"].iter().map(|dir| Path::new(dir).join(tool));
            let found = found.find(|path| path.exists());
            symlink(found.unwrap_or_else(|| panic!("{tool} is needed")), machine.bin.join(tool))
                .unwrap();
        }
        machine
    }

    fn launcher(&self) -> PathBuf {
        self.plugin.join("bin/taskie")
    }

    fn project(&self) -> PathBuf {
        self.temp.path().join("project")
    }

    /// The marketplace was cloned from this address.
    fn cloned_from(&self, url: &str) {
        let config = format!(
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = {url}\n\tfetch = +refs/heads/*\n[branch \"main\"]\n\tremote = origin\n"
        );
        fs::create_dir_all(self.clone.join(".git")).unwrap();
        fs::write(self.clone.join(".git/config"), config).unwrap();
    }

    /// Packs a release and lists it in the plugin.
    fn release(&self) -> Vec<u8> {
        let folder = self.temp.path().join("release");
        script(
            &folder.join(archive_name()).join("taskie"),
            &stand_in(&format!("taskie {VERSION}")),
        );
        // Too large for a full disk, and incompressible.
        let noise: Vec<u8> = (0..4096u32).flat_map(|n| Sha256::digest(n.to_le_bytes())).collect();
        fs::write(folder.join(archive_name()).join("README.md"), noise).unwrap();
        let file = folder.join("archive");
        let packed = Command::new("tar")
            .arg("-czf")
            .arg(&file)
            .arg("-C")
            .arg(&folder)
            .arg(archive_name())
            .status();
        assert!(packed.unwrap().success());
        let bytes = fs::read(file).unwrap();
        let hash: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        self.list(&hash);
        bytes
    }

    fn list(&self, hash: &str) {
        let other = "0".repeat(64);
        let list =
            format!("{other}  taskie-{VERSION}-other.tar.gz\n{hash}  {}.tar.gz\n", archive_name());
        fs::write(self.plugin.join("releases.sha256"), list).unwrap();
    }

    /// A program on PATH that prints this as its version.
    fn on_path(&self, prints: &str) -> PathBuf {
        let program = self.temp.path().join("installed/taskie");
        script(&program, &stand_in(prints).replace("$(cat)", "$(/bin/cat)"));
        let link = self.bin.join("taskie");
        let _ = fs::remove_file(&link);
        // The interpreter reads it by its path: a file that is still being written would be busy.
        symlink(&program, &link).unwrap();
        link
    }

    /// The launcher as the agent's shell finds it.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.launcher());
        command
            .args(args)
            .env_clear()
            .env("PATH", &self.bin)
            .env("HOME", self.temp.path().join("home"))
            .current_dir(self.project())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The launcher as hooks.json calls it.
    fn hook(&self, event: &str, change: impl FnOnce(&mut Command)) -> Ran {
        let hooks = fs::read_to_string(plugin().join("hooks/hooks.json")).unwrap();
        let hooks: Value = serde_json::from_str(&hooks).unwrap();
        let line = hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
        let like = self.command(&[]);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env_clear().current_dir(self.project());
        for (name, value) in like.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            command.env(name, value);
        }
        command
            .env("CLAUDE_PLUGIN_ROOT", &self.plugin)
            .env("CLAUDE_PLUGIN_DATA", &self.data)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        change(&mut command);
        feed(command, "EVENT\n")
    }

    fn session_start(&self) -> Ran {
        self.hook("SessionStart", |_| {})
    }

    fn stop(&self) -> Ran {
        self.hook("Stop", |_| {})
    }

    /// The line that says why there is no program.
    fn message(&self, why: &str) -> String {
        let clone = self.clone.display().to_string().replace('\'', "'\\''");
        let is_for_good = ["lists no release", "no address on the web"];
        let again = match is_for_good.iter().any(|part| why.contains(part)) {
            true => "",
            false => ", or start a new session to try again",
        };
        format!(
            "taskie: {why}. Install the program with `cargo install --locked --profile dist --path '{clone}'`{again}."
        )
    }

    /// The names of the files in the plugin's data folder.
    fn kept(&self) -> Vec<String> {
        let mut files = Vec::new();
        if self.data.is_dir() {
            crate::plugin::files_below(&self.data, &mut files);
        }
        let mut names: Vec<String> = files
            .iter()
            .map(|file| file.strip_prefix(&self.data).unwrap().display().to_string())
            .collect();
        names.sort();
        names
    }

    fn chosen(&self) -> PathBuf {
        self.data.join(format!("taskie-{VERSION}"))
    }

    fn copy(&self) -> PathBuf {
        self.data.join(VERSION).join("taskie")
    }
}

/// Compares everything that was run with what was expected.
#[track_caller]
fn expect(ran: &Ran, code: i32, stdout: &str, stderr: &str) {
    assert_eq!(ran.all(), (code, stdout, stderr));
}

#[track_caller]
fn expect_message(ran: &Ran, message: &str) {
    assert_eq!(
        (ran.code, ran.json(), ran.stderr.as_str()),
        (0, json!({ "systemMessage": message }), "")
    );
}

/// The installed program has got these arguments, and the event on stdin.
#[track_caller]
fn expect_run(ran: &Ran, args: &str) {
    expect(ran, 0, &format!("{args}: EVENT\n"), "");
}

#[test]
fn both_plugins_have_the_same_launcher_and_list() {
    let other = plugin().with_file_name("dr-done");
    for file in ["bin/taskie", "releases.sha256"] {
        let text = fs::read_to_string(plugin().join(file)).unwrap();
        assert_eq!(
            text,
            fs::read_to_string(other.join(file)).unwrap(),
            "copy plugin/taskie/{file} to plugin/dr-done"
        );
    }
    for plugin in [plugin(), other] {
        let launcher = plugin.join("bin/taskie");
        assert_eq!(launcher.metadata().unwrap().permissions().mode() & 0o111, 0o111);
        assert!(fs::read_to_string(launcher).unwrap().contains(&format!("\nversion={VERSION}\n")));
    }
}

/// The program on PATH is used if it has this version or a later one. (version printed, why it is not used)
#[test]
fn a_program_on_path_is_used_if_it_fits() {
    const OTHER: Option<&str> = Some("`BIN/taskie` is a different program");
    let cases = [
        ("taskie 4.99.0", Some("`BIN/taskie` is version 4.99.0, and this plugin needs VERSION")),
        ("other 3", OTHER),
        ("", OTHER),
        (concat!("taskie ", env!("CARGO_PKG_VERSION")), None),
        ("taskie 5.10.0", None),
    ];
    for (prints, why) in cases {
        let machine = Machine::new(TO_CHOOSE);
        let program = machine.on_path(prints);
        let ran = machine.session_start();
        let Some(why) = why else {
            expect_run(&ran, "hook session-start");
            assert_eq!(fs::read_link(machine.chosen()).unwrap(), program);
            continue;
        };
        let why =
            why.replace("BIN", &machine.bin.display().to_string()).replace("VERSION", VERSION);
        let message = machine.message(&format!(
            "{why}, and this plugin lists no release {VERSION} for this platform"
        ));
        expect_message(&ran, &message);
        assert!(!machine.chosen().exists(), "{prints}");
    }
}

/// Once a program has been chosen, a call starts nothing else: there is nothing on PATH that it could start.
#[test]
fn a_program_that_was_chosen_is_all_that_runs() {
    let machine = Machine::new(NOTHING);
    fs::create_dir_all(&machine.data).unwrap();
    script(&machine.copy(), &stand_in("no version is asked for").replace("$(cat)", "$(/bin/cat)"));
    symlink(machine.copy(), machine.chosen()).unwrap();
    expect_run(&machine.stop(), "hook stop --timeout 900");
    let ran = feed(machine.command(&["enter", "a phase", "--plan=x"]), "EVENT\n");
    expect_run(&ran, "enter a phase --plan=x");
}

/// The choice is kept for all projects, so a program of one project is no choice. Nor does it stand in for a tool. That the
/// home folder is in a repository, too, changes nothing.
#[test]
fn a_program_of_the_project_does_not_count() {
    for (below, home) in [("", "home"), ("src", "home"), ("src", "")] {
        let machine = Machine::new(TO_CHOOSE);
        let home = machine.temp.path().join(home);
        fs::create_dir_all(home.join(".git")).unwrap();
        let project = machine.project();
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(project.join(below)).unwrap();
        let theirs = project.join("node_modules/.bin/taskie");
        script(&theirs, "echo 'taskie 9.9.9'; echo ran >\"$0.ran\"");
        let folder = theirs.parent().unwrap();
        for tool in TO_DOWNLOAD {
            script(&folder.join(tool), "echo ran >\"$0.ran\"");
        }
        let link = machine.temp.path().join("link");
        symlink(folder, &link).unwrap();
        let path = format!("{}:{}:{}", folder.display(), link.display(), machine.bin.display());
        let start = |machine: &Machine| {
            machine.hook("SessionStart", |command| {
                command.env("PATH", &path).env("HOME", &home).current_dir(project.join(below));
            })
        };
        let why = format!(
            "the taskie program is not installed, and this plugin lists no release {VERSION} for this platform"
        );
        expect_message(&start(&machine), &machine.message(&why));
        assert!(!machine.chosen().exists());
        let program = machine.on_path("taskie 9.0.0");
        expect_run(&start(&machine), "hook session-start");
        assert_eq!(fs::read_link(machine.chosen()).unwrap(), program);
        let files = fs::read_dir(folder).unwrap().flatten();
        let mut names = files.map(|file| file.file_name().into_string().unwrap());
        assert_eq!(names.find(|name| name.ends_with(".ran")), None);
    }
}

/// A program that prints no version and doesn't end holds nobody up for long.
#[test]
fn a_program_without_an_answer_is_passed_over() {
    // What it has started holds nobody up, either.
    for body in ["exec /bin/sleep 60", "/bin/sleep 60 &"] {
        let machine = Machine::new(TO_CHOOSE);
        let program = machine.temp.path().join("installed/taskie");
        script(&program, body);
        symlink(&program, machine.bin.join("taskie")).unwrap();
        let message = machine.message(&format!(
            "`{}` is a different program, and this plugin lists no release {VERSION} for this platform",
            machine.bin.join("taskie").display()
        ));
        let start = Instant::now();
        expect_message(&machine.session_start(), &message);
        assert!(start.elapsed() < Duration::from_secs(30), "{body}");
    }
}

#[test]
fn a_release_is_downloaded_once_and_kept() {
    let machine = Machine::new(TO_DOWNLOAD);
    let server = Server::start(machine.release(), Answer::Whole);
    machine.cloned_from(&format!("{}/owner/repository.git", server.address));
    // Left behind by a download that was killed.
    script(&machine.data.join(".new-99999999/archive"), "");
    expect_run(&machine.session_start(), "hook session-start");
    let asked = vec![format!("GET /owner/repository/{} HTTP/1.1", asset())];
    assert_eq!(server.asked(), asked);
    assert_eq!(machine.kept(), [format!("{VERSION}/taskie"), format!("taskie-{VERSION}")]);
    // The agent's shell does not know the name of the folder.
    let ran = feed(machine.command(&["enter", "new-plan"]), "EVENT\n");
    expect_run(&ran, "enter new-plan");
    expect_run(&machine.stop(), "hook stop --timeout 900");
    expect_run(&machine.session_start(), "hook session-start");
    assert_eq!(server.asked(), asked, "it is there");
    // A suitable program on PATH comes first as long as it is there; the copy stays.
    let program = machine.on_path("taskie 9.0.0");
    expect_run(&machine.session_start(), "hook session-start");
    assert_eq!(fs::read_link(machine.chosen()).unwrap(), program);
    fs::remove_file(program).unwrap();
    expect_run(&machine.stop(), "hook stop --timeout 900");
    assert_eq!(fs::read_link(machine.chosen()).unwrap(), machine.copy());
    assert_eq!(server.asked(), asked);
}

/// How a session starts without a program: what is changed on a machine that otherwise works, the reason that is
/// shown, and the number of requests. ADDRESS is the server's, SUM the archive's hash.
struct Failure {
    change: fn(&Machine),
    answer: Answer,
    why: &'static str,
    requests: usize,
}

const FAILURES: &[Failure] = &[
    Failure {
        change: |_| {},
        answer: Answer::Missing,
        why: "ADDRESS cannot be downloaded: curl: (22) The requested URL returned error: 404",
        requests: 1,
    },
    Failure {
        change: |machine| machine.list(&"1".repeat(64)),
        answer: Answer::Whole,
        why: "ADDRESS is not the file that this plugin expects (its SHA-256 is SUM), so it is not used",
        requests: 1,
    },
    // A disk that is full after two blocks.
    Failure {
        change: |machine| {
            script_instead(machine, "curl", "trap '' XFSZ; ulimit -f 2; exec /usr/bin/curl \"$@\"")
        },
        answer: Answer::Whole,
        why: "ADDRESS cannot be downloaded: curl: (23) ",
        requests: 1,
    },
    Failure {
        change: |machine| {
            fs::create_dir_all(machine.data.parent().unwrap()).unwrap();
            fs::write(&machine.data, "").unwrap();
        },
        answer: Answer::Whole,
        why: "taskie VERSION cannot be downloaded: DATA cannot be written",
        requests: 0,
    },
    Failure {
        change: |machine| {
            for tool in ["curl", "sha256sum"] {
                fs::remove_file(machine.bin.join(tool)).unwrap();
            }
        },
        answer: Answer::Whole,
        why: "ADDRESS cannot be downloaded: neither curl nor wget is on PATH",
        requests: 0,
    },
    Failure {
        change: |machine| machine.cloned_from("/home/user/clone"),
        answer: Answer::Whole,
        why: "taskie VERSION cannot be downloaded: the repository that this plugin came from has no address on the web",
        requests: 0,
    },
    Failure {
        change: |machine| fs::write(machine.plugin.join("releases.sha256"), "").unwrap(),
        answer: Answer::Whole,
        why: "the taskie program is not installed, and this plugin lists no release VERSION for this platform",
        requests: 0,
    },
];

fn script_instead(machine: &Machine, tool: &str, text: &str) {
    fs::remove_file(machine.bin.join(tool)).unwrap();
    script(&machine.bin.join(tool), text);
}

/// Each case prints one line and leaves nothing behind. A stop is allowed; it does not try again, and prints nothing
/// if the plugin is not used. The next session tries again.
#[test]
fn a_missing_release_is_reported_in_one_line() {
    for (n, failure) in FAILURES.iter().enumerate() {
        let machine = Machine::new(TO_DOWNLOAD);
        let release = machine.release();
        let sum: String =
            Sha256::digest(&release).iter().map(|byte| format!("{byte:02x}")).collect();
        let server = Server::start(release, failure.answer);
        machine.cloned_from(&format!("{}/a/b", server.address));
        let why = failure
            .why
            .replace("ADDRESS", &format!("{}/a/b/ASSET", server.address))
            .replace("ASSET", &asset())
            .replace("DATA", &machine.data.display().to_string())
            .replace("SUM", &sum)
            .replace("VERSION", VERSION);
        (failure.change)(&machine);
        let ran = machine.session_start();
        let shown = ran.message();
        // The tools' own messages differ between versions.
        let (found, wanted) = match why.split_once(") ") {
            Some((start, "")) => (
                shown.split_once(") ").map_or("", |(start, _)| start).to_owned(),
                format!("taskie: {start}"),
            ),
            _ => (shown.clone(), machine.message(&why)),
        };
        assert_eq!((ran.code, found, ran.stderr.as_str()), (0, wanted, ""), "{n}: {shown}");
        assert_eq!(server.asked().len(), failure.requests, "{n}");
        let stop = machine.stop();
        expect_message(&stop, &shown);
        let kept: &[&str] = if machine.data.is_dir() { &["failed"] } else { &[] };
        assert_eq!(machine.kept(), kept, "{n}");
        assert_eq!(server.asked().len(), failure.requests, "{n}: a stop does not try again");
    }
    // The next session tries again.
    let machine = Machine::new(TO_DOWNLOAD);
    let server = Server::start(machine.release(), Answer::Whole);
    machine.cloned_from("http://127.0.0.1:9/a/b");
    assert!(machine.session_start().stdout.contains("curl: (7)"));
    machine.cloned_from(&format!("{}/a/b", server.address));
    expect_run(&machine.session_start(), "hook session-start");
    assert!(!machine.data.join("failed").exists());
}

/// The address of a release, for each kind of address that git takes. All requests go to a proxy.
#[test]
fn a_proxy_is_used_and_each_kind_of_remote_understood() {
    let cases = [
        ("http://host.invalid/o/r", "GET http://host.invalid/o/r/"),
        ("http://name:secret@host.invalid:8080/o/r.git/", "GET http://host.invalid:8080/o/r/"),
        ("git@host.invalid:o/r.git", "CONNECT host.invalid:443"),
        ("ssh://git@host.invalid:2222/o/r.git", "CONNECT host.invalid:443"),
    ];
    for (remote, request) in cases {
        let machine = Machine::new(TO_DOWNLOAD);
        let server = Server::start(machine.release(), Answer::Whole);
        machine.cloned_from(remote);
        let ran = machine.hook("SessionStart", |command| {
            command.env("http_proxy", &server.address).env("https_proxy", &server.address);
        });
        let is_plain = request.starts_with("GET");
        let expected = match is_plain {
            true => format!("{request}{} HTTP/1.1", asset()),
            false => format!("{request} HTTP/1.1"),
        };
        assert_eq!(server.asked(), [expected], "{remote}");
        match is_plain {
            true => expect_run(&ran, "hook session-start"),
            // The proxy cannot reach it.
            false => assert!(
                ran.stdout.contains(&format!("https://host.invalid/o/r/{}", asset())),
                "{}",
                ran.stdout
            ),
        }
    }
}

/// A program that is killed with the host's process group leaves no incomplete release behind.
#[test]
fn a_killed_download_leaves_nothing() {
    let machine = Machine::new(TO_DOWNLOAD);
    let server = Server::start(machine.release(), Answer::Slow);
    machine.cloned_from(&format!("{}/a/b", server.address));
    let mut child = machine.command(&["next"]).spawn().unwrap();
    while server.asked().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(machine.kept(), [] as [String; 0]);
}
