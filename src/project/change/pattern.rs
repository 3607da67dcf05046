//! Patterns of files, as git's own are read.

use fast_glob::glob_match;

use crate::host::hosts::instructions;

/// Returns whether a file needs no review, by these patterns. What an agent reads as instructions always does, however it is
/// spelled: some file systems ignore case.
pub(super) fn is_skipped(path: &str, patterns: &[String]) -> bool {
    let folded = path.to_lowercase();
    patterns.iter().any(|pattern| is_like(path, pattern))
        && !instructions().any(|pattern| is_like(&folded, &pattern.to_lowercase()))
}

/// Returns whether a pattern matches a path. As in git's own patterns, one without a `/` matches the name of a file in any
/// folder, and one that ends with a `/` or `/**` all files in a folder; `*`, `?` and `[…]` stand for what they stand for in a
/// shell. All other signs stand for themselves.
fn is_like(path: &str, pattern: &str) -> bool {
    let start = if pattern.contains('/') { "/" } else { "/**/" };
    let end = if pattern.ends_with('/') { "**" } else { "" };
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let pattern = pattern.replace('\\', r"\\").replace('{', r"\{");
    // Beside another sign, two stars are one.
    let folders = pattern.split('/').map(|folder| match folder {
        "**" => folder.to_owned(),
        _ => folder.replace("**", "*"),
    });
    let folders: Vec<String> = folders.collect();
    glob_match(format!("{start}{}{end}", folders.join("/")), format!("/{path}"))
}

#[cfg(test)]
mod tests {
    use super::{is_like, is_skipped};

    #[test]
    fn what_agents_read_is_never_skipped() {
        let all = ["*".to_owned(), "docs/**".to_owned()];
        for (path, is) in [
            ("docs/a.md", true),
            ("docs/CLAUDE.md", false),
            ("docs/agents.md", false),
            ("a/GEMINI.md", false),
            (".github/copilot-instructions.md", false),
            (".github/workflows/a.yml", true),
            ("a/.claude/rules/b.md", false),
            ("plugin/commands/review.md", false),
            ("docs/commands.md", true),
            ("skills/a/SKILL.md", false),
            ("skills/a/run.sh", false),
        ] {
            assert_eq!(is_skipped(path, &all), is, "{path}");
        }
    }

    #[test]
    fn patterns_of_files() {
        let (hard, deep) = (format!("{}b", "a".repeat(60)), "a/".repeat(2_000));
        for (pattern, fitting, other) in [
            ("*.md", vec!["a.md", "b/a.md"], vec!["a.mdx", "md/a"]),
            ("docs/**", vec!["docs/a", "docs/b/a"], vec!["docs", "a/docs/a"]),
            ("docs/", vec!["docs/a", "docs/b/a"], vec!["docs", "docsa"]),
            ("**/docs/**", vec!["docs/a", "b/docs/a"], vec!["b/docs"]),
            ("/*.md", vec!["a.md"], vec!["b/a.md"]),
            ("a/*/c?.txt", vec!["a/b/cd.txt"], vec!["a/b/b/cd.txt", "a/b/c.txt"]),
            ("LICENSE*", vec!["LICENSE", "b/LICENSE-MIT"], vec!["LICENSE/a"]),
            ("", vec![], vec!["a"]),
            ("**/a*/**/*b", vec!["a/b", "x/ab/y/cb", "a/x/ab/cb"], vec!["ab", "b/a/c"]),
            ("*a*ab*", vec!["xaab", "aab", "aaxabx"], vec!["xab", "ba"]),
            ("a**/b", vec!["a/b", "ax/b"], vec!["a/x/b", "ab"]),
            ("a/b**", vec!["a/bc"], vec!["a/b/c"]),
            ("!a", vec!["!a"], vec!["a", "b"]),
            ("build**/", vec!["buildx/a"], vec!["build.rs", "a/build/b"]),
            ("//", vec![], vec!["a", "a/b"]),
            ("[ab].{c,d}", vec!["a.{c,d}"], vec!["a.c", "c.{c,d}"]),
            // No name takes long.
            ("*a*a*a*a*a*a*a*ab", vec![&hard[1..]], vec![&hard[..60]]),
            ("**/*a/**/*a/**/*a/**/*a/**/*a/**/*a/**/*ab", vec![], vec![&deep]),
        ] {
            for path in fitting {
                assert!(is_like(path, pattern), "{pattern} {path}");
            }
            for path in other {
                assert!(!is_like(path, pattern), "{pattern} {path}");
            }
        }
    }
}
