//! Patterns of files, as git's own are read.

/// Returns whether one of these patterns matches a path.
pub(crate) fn is_any_like(path: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| is_like(path, pattern))
}

/// Returns whether a pattern matches a path. As in git's own patterns, one without a `/` matches the name of a file in any
/// folder, and one that ends with a `/` or `/**` all files in a folder; `*` and `?` stand for what they stand for in a shell.
fn is_like(path: &str, pattern: &str) -> bool {
    fn fits(path: &[u8], pattern: &[u8]) -> bool {
        match (pattern, path) {
            ([b'*', b'*', b'/', rest @ ..], _) => {
                let mut starts = path.iter().enumerate().filter(|(_, sign)| **sign == b'/');
                fits(path, rest) || starts.any(|(at, _)| fits(&path[at + 1..], rest))
            }
            ([b'*', b'*'], _) => !path.is_empty(),
            ([b'*', rest @ ..], _) => {
                let end = path.iter().position(|sign| *sign == b'/').unwrap_or(path.len());
                (0..=end).any(|at| fits(&path[at..], rest))
            }
            ([b'?', rest @ ..], [sign, more @ ..]) if *sign != b'/' => fits(more, rest),
            ([sign, rest @ ..], [other, more @ ..]) if sign == other => fits(more, rest),
            ([], []) => true,
            _ => false,
        }
    }
    let folder = pattern.strip_suffix('/').map(|folder| format!("{folder}/**"));
    let pattern = folder.as_deref().unwrap_or(pattern);
    let whole = pattern.strip_prefix('/');
    let is_name = whole.is_none() && !pattern.contains('/');
    let name = path.rsplit('/').next().unwrap_or(path);
    let subject = if is_name { name } else { path };
    fits(subject.as_bytes(), whole.unwrap_or(pattern).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn patterns_of_files() {
        for (pattern, fitting, other) in [
            ("*.md", vec!["a.md", "b/a.md"], vec!["a.mdx", "md/a"]),
            ("docs/**", vec!["docs/a", "docs/b/a"], vec!["docs", "a/docs/a"]),
            ("docs/", vec!["docs/a", "docs/b/a"], vec!["docs", "docsa"]),
            ("**/docs/**", vec!["docs/a", "b/docs/a"], vec!["b/docs"]),
            ("/*.md", vec!["a.md"], vec!["b/a.md"]),
            ("a/*/c?.txt", vec!["a/b/cd.txt"], vec!["a/b/b/cd.txt", "a/b/c.txt"]),
            ("LICENSE*", vec!["LICENSE", "b/LICENSE-MIT"], vec!["LICENSE/a"]),
            ("", vec![], vec!["a"]),
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
