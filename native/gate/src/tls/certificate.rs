// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The server's certificate: read from its files, checked, and read anew when they change.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// No chain of certificates is so long.
const MOST_BYTES: u64 = 1 << 20;

/// The two files.
#[derive(Debug, Clone)]
pub struct Files {
    /// `cert`.
    pub cert: PathBuf,
    /// `key`.
    pub key: PathBuf,
}

/// What changes when a file is written or replaced: device, inode, length, and when it was changed.
type Stamp = (u64, u64, u64, i64, i64);

/// Of both.
pub type Stamps = [Option<Stamp>; 2];

impl Files {
    /// What both files are now; of one that cannot be seen, nothing. Links are followed, as a secret of Kubernetes is replaced by one.
    pub fn stamps(&self) -> Stamps {
        [&self.cert, &self.key].map(|path| {
            let of = std::fs::metadata(path).ok()?;
            Some((of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec()))
        })
    }

    /// Both, if they can be served.
    ///
    /// # Errors
    /// What is wrong, in which file, and what to do.
    pub fn load(&self, provider: &CryptoProvider) -> Result<CertifiedKey, String> {
        let text = read("cert", &self.cert)?;
        let name = self.cert.display();
        let chain: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&text).collect();
        let chain = chain.map_err(|error| no_pem("cert", &name.to_string(), &error))?;
        if chain.is_empty() {
            let help = "give a file with the server's certificate first, and those between it and its root behind it";
            return Err(format!("option cert={name}: there is no BEGIN CERTIFICATE in it; {help}"));
        }
        let text = read("key", &self.key)?;
        let name = self.key.display();
        let key = PrivateKeyDer::from_pem_slice(&text).map_err(|error| no_key(&name.to_string(), &text, &error))?;
        let key = provider.key_provider.load_private_key(key).map_err(|error| {
            format!(
                "option key={name}: this key cannot be used: {error}; give one of RSA (2048 to 8192 bits), ECDSA (P-256, P-384) or Ed25519"
            )
        })?;
        let certified = CertifiedKey::new(chain, key);
        let (cert, key) = (self.cert.display(), self.key.display());
        match certified.keys_match() {
            Ok(()) => Ok(certified),
            Err(rustls::Error::InconsistentKeys(_)) => Err(format!(
                "option key={key}: this is not the key of the certificate in {cert}; give the one that the certificate was asked for with, \
                 and the server's certificate as the first of its file"
            )),
            Err(error) => Err(format!("option cert={cert}: the first certificate cannot be read: {error}; write the file anew")),
        }
    }
}

fn read(option: &str, path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display();
    let failed = |error: std::io::Error| {
        format!("option {option}={name} cannot be read: {error}; give a file in PEM that the service's user may read")
    };
    let mut text = Vec::new();
    let length = File::open(path).map_err(failed)?.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(failed)?;
    if length as u64 > MOST_BYTES {
        return Err(format!("option {option}={name} has more than {MOST_BYTES} bytes; give a file in PEM"));
    }
    Ok(text)
}

/// Why there is no key.
fn no_key(name: &str, text: &[u8], error: &pem::Error) -> String {
    if String::from_utf8_lossy(text).contains("ENCRYPTED") {
        return format!(
            "option key={name}: this key is encrypted; decrypt it: openssl pkey -in {name} -out FILE, which the service's user alone may read"
        );
    }
    match error {
        pem::Error::NoItemsFound => format!("option key={name}: there is no BEGIN PRIVATE KEY in it; give the certificate's key, in PEM"),
        _ => no_pem("key", name, error),
    }
}

/// What is wrong with a PEM, without a byte of it: the error's own words repeat whole lines, which may be a key, and this goes to the log.
fn no_pem(option: &str, name: &str, error: &pem::Error) -> String {
    let wrong = match error {
        pem::Error::MissingSectionEnd { .. } => "a line with BEGIN has no line with END behind it",
        pem::Error::IllegalSectionStart { .. } => "a line with BEGIN does not end with five dashes",
        pem::Error::Base64Decode(_) => "what is between BEGIN and END is not base64",
        _ => "it cannot be read",
    };
    format!("option {option}={name}: this is no PEM: {wrong}; write the file anew, with BEGIN and END on lines of their own")
}

/// When files that may change are to be read: once they have changed, and then held still from one look to the next. A certificate and its key
/// are two files, which nobody can replace at once.
#[derive(Debug)]
pub struct Changes<S> {
    read: S,
    last: S,
}

impl<S: PartialEq + Clone> Changes<S> {
    /// Files that were read as they are now, or later.
    pub fn new(now: S) -> Changes<S> {
        Changes { read: now.clone(), last: now }
    }

    /// A look. Whether they are to be read now; they count as read then, whatever comes of it.
    pub fn look(&mut self, now: S) -> bool {
        let is_still = self.last == now;
        self.last = now;
        if !is_still || self.last == self.read {
            return false;
        }
        self.read = self.last.clone();
        true
    }
}

/// What handshakes use: replaced by the thread that watches the files, read by those that serve.
#[derive(Debug)]
pub struct Current(RwLock<Arc<CertifiedKey>>);

impl Current {
    /// This one.
    pub fn new(key: CertifiedKey) -> Current {
        Current(RwLock::new(Arc::new(key)))
    }

    /// From now on that one; handshakes that are under way go on with the other.
    pub fn replace(&self, key: CertifiedKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::testing::{self, Directory};

    fn load(directory: &Directory) -> Result<CertifiedKey, String> {
        directory.files().load(&rustls::crypto::ring::default_provider())
    }

    #[test]
    fn a_certificate_and_its_key() {
        let directory = Directory::new("certificate");
        for (cert, key) in [(testing::CERT_A, testing::KEY_A), (testing::CERT_B, testing::KEY_B)] {
            directory.write(cert, key);
            assert_eq!(load(&directory).unwrap().cert.len(), 1);
        }
        directory.write(&format!("{}{}", testing::CERT_A, testing::CERT_B), testing::KEY_A);
        assert_eq!(load(&directory).unwrap().cert.len(), 2, "with one between it and its root");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_file_and_what_to_do() {
        let directory = Directory::new("wrong");
        let cut = &testing::CERT_A[..testing::CERT_A.len() / 2];
        let not_one = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\naGVsbG8=\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let not_a_key = "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n";
        for (cert, key, option, part) in [
            ("", testing::KEY_A, "cert", "there is no BEGIN CERTIFICATE in it; give"),
            (testing::KEY_A, testing::KEY_A, "cert", "there is no BEGIN CERTIFICATE in it; give"),
            (cut, testing::KEY_A, "cert", "no PEM"),
            (not_one, testing::KEY_A, "cert", "the first certificate cannot be read"),
            (testing::CERT_A, "", "key", "there is no BEGIN PRIVATE KEY"),
            (testing::CERT_A, testing::CERT_A, "key", "there is no BEGIN PRIVATE KEY"),
            (testing::CERT_A, encrypted, "key", "openssl pkey"),
            (testing::CERT_A, not_a_key, "key", "cannot be used"),
            (testing::CERT_A, testing::KEY_B, "key", "not the key of the certificate"),
        ] {
            directory.write(cert, key);
            let message = load(&directory).unwrap_err();
            assert!(message.starts_with(&format!("option {option}=")) && message.contains(part), "{message}");
            assert!(message.contains("gate-tls-wrong"), "the file's name: {message}");
        }
        directory.write(&"x".repeat(MOST_BYTES as usize + 1), testing::KEY_A);
        assert!(load(&directory).unwrap_err().contains("more than 1048576 bytes"));
        std::fs::remove_file(&directory.files().cert).unwrap();
        assert!(load(&directory).unwrap_err().contains("No such file"));
    }

    /// Whether eight bytes of a key's in a row are said, as text or as numbers.
    fn betrays(message: &str, key: &str) -> bool {
        let body: String = key.lines().filter(|line| !line.starts_with('-')).collect();
        assert!(body.len() > 100);
        body.as_bytes().windows(8).any(|part| {
            let numbers = format!("{part:?}");
            message.contains(std::str::from_utf8(part).unwrap()) || message.contains(numbers.trim_matches(['[', ']']))
        })
    }

    #[test]
    fn no_message_says_a_byte_of_a_key() {
        let directory = Directory::new("secret");
        let one_line = testing::KEY_A.replace('\n', "");
        let cut = &one_line[..one_line.len() - 2];
        let no_end = testing::KEY_A.split("-----END").next().unwrap();
        let no_base64 = testing::KEY_A.replacen('M', "!", 1);
        for (key, part) in [
            (one_line.as_str(), "no line with END"),
            (cut, "five dashes"),
            (no_end, "no line with END"),
            (no_base64.as_str(), "not base64"),
        ] {
            directory.write(testing::CERT_A, key);
            let of_key = load(&directory).unwrap_err();
            assert!(of_key.starts_with("option key=") && of_key.contains(part), "{part}");
            directory.write(key, testing::KEY_A);
            let of_cert = load(&directory).unwrap_err();
            assert!(of_cert.starts_with("option cert="), "{part}");
            assert!(!betrays(&of_key, testing::KEY_A) && !betrays(&of_cert, testing::KEY_A), "{part}");
        }
        assert!(betrays(&format!("{:?}", one_line.as_bytes()), testing::KEY_A) && betrays(&one_line, testing::KEY_A));
    }

    #[test]
    fn files_are_read_once_they_hold_still() {
        let mut changes = Changes::new(1);
        let looks = [1, 1, 2, 3, 3, 3, 4, 3, 3, 5, 5].map(|stamp| changes.look(stamp));
        // 4 has gone before it held still, and 3 was read already.
        assert_eq!(looks, [false, false, false, false, true, false, false, false, false, false, true]);
    }

    #[test]
    fn a_file_that_is_written_has_another_stamp() {
        let directory = Directory::new("stamps");
        directory.write(testing::CERT_A, testing::KEY_A);
        let before = directory.files().stamps();
        assert!(before.iter().all(Option::is_some) && before == directory.files().stamps());
        directory.write(testing::CERT_B, testing::KEY_A);
        let after = directory.files().stamps();
        assert!(before[0] != after[0]);
        std::fs::remove_file(&directory.files().key).unwrap();
        assert_eq!(directory.files().stamps()[1], None);
    }
}
