// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the VM calls must not be left by a panic, which would end the VM: whatever a function of ours does there beside the VM's own goes through
//! here. A panic is a defect of the gate, and the service goes on without what was to be done.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `f` gives; `None` if it panics. The hook of panics has said so by then. What `f` has changed may be half done: the caller sees to that.
pub fn guarded<T>(f: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(f)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_panic_goes_no_further() {
        assert_eq!(guarded(|| 1), Some(1));
        assert_eq!(guarded(|| -> i32 { panic!("on purpose") }), None);
    }

    /// The bodies of functions that the VM calls, by their names.
    fn called_by_the_vm(directory: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                called_by_the_vm(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // Definitions only: types of functions have no name.
                for part in text.split("extern \"system\" fn ").skip(1).filter(|part| !part.starts_with('(')) {
                    let name = part.split('(').next().unwrap().to_owned();
                    let end = part.find("\n}").or(part.find("\n        })")).unwrap();
                    found.push((name, part[..end].to_owned()));
                }
            }
        }
    }

    /// Each of them goes through [`guarded`], by itself or by what does all of its work.
    #[test]
    fn no_panic_leaves_a_function_that_the_vm_calls() {
        let mut found = Vec::new();
        called_by_the_vm(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.len() > 25, "{found:?}");
        let is_guarded = |body: &str| {
            ["guarded(", "receive(", "read(env, ", "take(fd, ", "send(fd, ", "give_up("].iter().any(|call| body.contains(call))
        };
        for (name, body) in found {
            assert!(is_guarded(&body), "a panic in {name} would end the VM");
        }
    }
}
