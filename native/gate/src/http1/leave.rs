// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Requests that the gate leaves to the application, though it could answer them: health checks, which would take *busy* for a service that is
//! broken.

/// Which: any of these is enough.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leave {
    /// Paths; also what lies below them.
    pub paths: Vec<String>,
    /// What `User-Agent` begins with.
    pub agents: Vec<String>,
}

impl Leave {
    /// Whether a request is one, by its target and its `User-Agent`.
    pub fn is(&self, target: &[u8], agent: Option<&[u8]>) -> bool {
        let path = target.split(|&b| b == b'?').next().unwrap_or_default();
        let below = |named: &String| {
            let rest = path.strip_prefix(named.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || named.ends_with('/'))
        };
        self.paths.iter().any(below) || agent.is_some_and(|agent| self.agents.iter().any(|named| agent.starts_with(named.as_bytes())))
    }
}
