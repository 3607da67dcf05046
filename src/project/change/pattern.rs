//! Patterns of files, as git's own are read.

use crate::host::hosts::instructions;

/// Returns whether a file needs no review, by these patterns. What an agent reads as instructions always does, however it is
/// spelled: some file systems ignore case.
pub(super) fn is_skipped(path: &str, patterns: &[String]) -> bool {
    let folded = path.to_lowercase();
    patterns.iter().any(|pattern| is_like(path, pattern))
        && !instructions().any(|pattern| is_like(&folded, &pattern.to_lowercase()))
}

/// Returns whether a pattern matches a path. As in git's own patterns, one without a `/` matches the name of a file in any
/// folder, and one that ends with a `/` or `/**` all files in a folder; `*` and `?` stand for what they stand for in a shell.
fn is_like(path: &str, pattern: &str) -> bool {
    let folder = pattern.strip_suffix('/').map(|folder| format!("{folder}/**"));
    let pattern = folder.as_deref().unwrap_or(pattern);
    let whole = pattern.strip_prefix('/');
    let is_name = whole.is_none() && !pattern.contains('/');
    let name = path.rsplit('/').next().unwrap_or(path);
    let subject = if is_name { name } else { path };
    fits(subject.as_bytes(), whole.unwrap_or(pattern).as_bytes())
}

/// Returns whether a pattern matches a whole text. Only the last `*` and the last `**/` are ever tried again: what those before
/// them stand for need not be longer.
fn fits(text: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    // Where the last one goes on from, and what follows it in the pattern.
    let (mut star, mut folders) = (None, None);
    loop {
        let is_start = next == 0 || pattern[next - 1] == b'/';
        match (&pattern[next..], text.get(at)) {
            ([b'*', b'*', b'/', ..], _) if is_start => {
                next += 3;
                (star, folders) = (None, Some((at, next)));
            }
            ([b'*', b'*'], Some(_)) if is_start => return true,
            ([b'*', ..], _) => {
                next += 1;
                star = Some((at, next));
            }
            ([], None) => return true,
            ([sign, ..], Some(other)) if sign == other || *sign == b'?' && *other != b'/' => {
                (at, next) = (at + 1, next + 1);
            }
            _ => {
                let further =
                    star.filter(|(from, _)| text.get(*from).is_some_and(|sign| *sign != b'/'));
                if let Some((from, after)) = further {
                    star = Some((from + 1, after));
                    (at, next) = (from + 1, after);
                } else if let Some((from, after)) = folders
                    && let Some(length) = text[from..].iter().position(|sign| *sign == b'/')
                {
                    (at, next) = (from + length + 1, after);
                    (star, folders) = (None, Some((at, next)));
                } else {
                    return false;
                }
            }
        }
    }
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
