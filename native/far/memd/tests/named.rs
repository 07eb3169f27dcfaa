// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The tests that the pages about security name are there.

use std::path::Path;

/// The tests that some text names: words of several parts in back quotes, and no files.
fn named(text: &str) -> Vec<&str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.contains('_') && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect()
}

/// All lines of the Rust sources below a directory that begin a function, without what is before its name.
fn functions(directory: &Path, found: &mut String) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let tests = lines.windows(2).filter(|pair| pair[0] == "#[test]");
            tests.filter_map(|pair| pair[1].strip_prefix("fn ")).for_each(|line| {
                found.push_str(line);
                found.push('\n');
            });
        }
    }
}

fn are_there(names: &[&str], directory: &Path) {
    let mut found = String::new();
    functions(directory, &mut found);
    for name in names {
        assert!(found.lines().any(|line| line.starts_with(&format!("{name}("))), "there is no test {name}");
    }
}

#[test]
fn tests_that_the_page_about_security_names_are_there() {
    let far = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(far.join("../../docs/design/far-memory-security.md")).unwrap();
    let table = page.split_once("## Beside others").unwrap().1.split_once("\n## ").unwrap().0;
    let names = named(table);
    assert!(names.len() > 30, "{names:?}");
    are_there(&names, far);
}

#[test]
fn tests_that_the_page_about_the_gate_names_are_there() {
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(native.join("../docs/design/gate.md")).unwrap();
    let table = page.split_once("## Beside Envoy").unwrap().1.split("\n## ").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| asked")).collect();
    assert!(rows.len() >= 10);
    for row in rows {
        assert!(named(row).iter().any(|name| name.matches('_').count() > 1), "{row}");
    }
    are_there(&named(table), &native.join("gate"));
    let services = std::fs::read_to_string(native.join("gate/tests/services/main.rs")).unwrap();
    for title in ["framing, {server}", "behind {balancer}", "flight recorder"] {
        assert!(table.contains(&format!("`{title}`")) && services.contains(title), "no test of the services is called '{title}'");
    }
}

/// Each of the twenty has a test, those of the services by what `native/test.sh` calls them.
#[test]
fn the_twenty_tests_are_there() {
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(native.join("../docs/design/twenty-tests.md")).unwrap();
    let services = std::fs::read_to_string(native.join("gate/tests/services/main.rs")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit());
    let mut count = 0;
    for row in rows {
        count += 1;
        assert!(row.starts_with(&format!("| {count}. ")), "number {count} is not in its place: {row}");
        let names = named(row);
        assert!(!names.is_empty() || row.contains("native/test.sh"), "number {count} names no test");
        are_there(&names, &native);
    }
    assert_eq!(count, 20);
    let hostile = page.split_once("\n## Hostile").and_then(|(_, rest)| rest.split("\n## ").next()).unwrap_or_default();
    let names = named(hostile);
    assert!(names.len() > 2, "{names:?}");
    are_there(&names, &native);
    for title in [
        "behind {balancer}",
        "framing, {server}",
        "framing of HTTP/2, Netty's codec",
        "DATA of HTTP/2 without an end, {mode}",
        "h2spec, Netty's codec",
    ] {
        assert!(services.contains(title), "no test of the services is called '{title}'");
    }
}
