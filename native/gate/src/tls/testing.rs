// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! For tests: certificates of nobody, whose keys are no secret.

use std::path::PathBuf;

use crate::tls::certificate::Files;

pub const CERT_A: &str = include_str!("../../tests/tls/cert-a.pem");
pub const KEY_A: &str = include_str!("../../tests/tls/key-a.pem");
pub const CERT_B: &str = include_str!("../../tests/tls/cert-b.pem");
pub const KEY_B: &str = include_str!("../../tests/tls/key-b.pem");

/// A directory of a test's own, with the two files.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("gate-tls-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    pub fn files(&self) -> Files {
        Files { cert: self.0.join("cert.pem"), key: self.0.join("key.pem") }
    }

    pub fn write(&self, cert: &str, key: &str) {
        let files = self.files();
        std::fs::write(files.cert, cert).unwrap();
        std::fs::write(files.key, key).unwrap();
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
