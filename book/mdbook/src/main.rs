// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-book DIR`: makes a site of the book in DIR, whose `book.toml` says where to.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1) else {
        eprintln!("lull-book: which directory? It holds book.toml");
        return ExitCode::from(2);
    };
    match mdbook_driver::MDBook::load(&dir).and_then(|book| book.build()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lull-book: no site of {}: {error:#}", dir.display());
            ExitCode::FAILURE
        }
    }
}
