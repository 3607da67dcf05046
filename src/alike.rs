//! Texts that say the same except for what changes from run to run.

use std::path::Path;

/// Returns a text with one `0` for each number.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut same = String::new();
    for char in text.chars() {
        match char.is_ascii_digit() {
            true if same.ends_with('0') => {}
            true => same.push('0'),
            false => same.push(char),
        }
    }
    same
}

/// Returns a text without what differs from run to run of a gate that fails in the same way: numbers, addresses, hashes and
/// the names of temporary files, of which `temporary` is the folder.
pub(crate) fn steady(text: &str, temporary: &Path) -> String {
    let text = text.replace(&*temporary.to_string_lossy(), "/tmp");
    let is_end = |sign: char| !(sign.is_alphanumeric() || "._-+".contains(sign));
    let mut steady = String::new();
    let (mut before, mut rest) = text.split_at(0);
    while let Some(first) = rest.chars().next() {
        let length = rest.find(is_end).unwrap_or(rest.len());
        let (name, after) = rest.split_at(length.max(first.len_utf8()));
        let is_temporary = name.trim_start_matches('.').starts_with("tmp")
            || ["/tmp/", "/T/", "/shm/", "\\Temp\\"].iter().any(|of| before.ends_with(of));
        match length > 0 && name != "tmp" {
            true if is_temporary => steady.push_str("tmp"),
            true if is_uuid(name) => steady.push('0'),
            _ => steady.extend(name.split_inclusive(['.', '-', '_', '+']).map(without_id)),
        }
        (before, rest) = text.split_at(text.len() - after.len());
    }
    steady
}

fn is_uuid(name: &str) -> bool {
    let lengths = name.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Returns a part of a name, which may end with a sign, as `0` if it is a number in hexadecimal digits, and otherwise
/// without its numbers.
fn without_id(part: &str) -> String {
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = part.trim_end_matches(['.', '-', '_', '+']);
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let is_id = digits.len() >= 4 && digits.bytes().any(|byte| byte.is_ascii_digit());
    match is_hex(digits) && (is_id || digits.len() < word.len()) {
        true => format!("0{}", &part[word.len()..]),
        false => without_numbers(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failure_is_recognized() {
        let same = [
            ("2 tests failed in 31 ms", "17 tests failed in 4 ms"),
            ("panic at 0x7ffe01ab", "panic at 0xdeadbeef"),
            (
                "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 x",
                "id deadbeef-cafe-dada-beef-feedfacedeaf x",
            ),
            ("in /tmp/tmp.Qw3rTy/a.rs", "in /tmp/tmp.aBcDeF/a.rs"),
            ("in /tmp/build-Xa_b/a.rs", "in /tmp/build-Zz9_q/a.rs"),
            ("in '/build/t/.tmpAbCdEf'", "in '/build/t/.tmpXyZ012'"),
            ("in /var/folders/a1/b/T/pyABC/x", "in /var/folders/a1/b/T/pyXYZ/x"),
            ("in /elsewhere/abc/x", "in /elsewhere/def/x"),
            ("commit 1a2b3c4 ü", "commit 99ff00a ü"),
        ];
        let steady = |text: &str| steady(text, Path::new("/elsewhere"));
        for (one, other) in same {
            assert_eq!(steady(one), steady(other), "{one}");
        }
        let different = [
            ("test a failed", "test b failed"),
            ("in /tmp/x/a.rs", "in /tmp/x/b.rs"),
            ("facade", "decade"),
            ("tmp/a", "tmp/b"),
        ];
        for (one, other) in different {
            assert_ne!(steady(one), steady(other), "{one}");
        }
    }
}
