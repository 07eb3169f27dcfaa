// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The tests that the page about security names are there.

use std::path::Path;

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

#[test]
fn tests_that_the_page_about_security_names_are_there() {
    let far = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = String::new();
    functions(far, &mut found);
    let page = std::fs::read_to_string(far.join("../../docs/design/far-memory-security.md")).unwrap();
    let table = page.split_once("## Beside others").unwrap().1.split_once("\n## ").unwrap().0;
    let names: Vec<&str> = table.split('`').skip(1).step_by(2).filter(|name| name.contains('_') && !name.contains('/')).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(found.lines().any(|line| line.starts_with(&format!("{name}()"))), "there is no test {name}");
    }
}
