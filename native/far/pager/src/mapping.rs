// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How ranges come and go: memory on the servers, addresses here. Not for the fault path.

use std::os::fd::AsRawFd;
use std::sync::PoisonError;
use std::time::Duration;

use lull_far_protocol::{ErrorCode, Message, Op};

use crate::PAGE_SIZE;
use crate::dirty::DirtyPages;
use crate::fault;
use crate::kernel;
use crate::last_words::say;
use crate::layout::Layout;
use crate::life;
use crate::link::{LinkError, Payload, Server};
use crate::page::Kind;
use crate::pager::{Error, Pager};
use crate::ranges::{MAX_RANGES, Next, Range};
use crate::syscall;

/// What becomes of the addresses of a range that is given up.
enum Addresses {
    Freed,
    Kept,
}

impl Pager {
    /// Maps a range whose pages are zeros, at an address of the kernel's choice, or at `fixed`, replacing what is there, which may not be
    /// a range.
    ///
    /// # Errors
    /// If a server has no room, or the system refuses, or a range is there. Nothing stays mapped then; at `fixed` nothing is, or what was.
    pub fn map(&self, bytes: usize, fixed: Option<usize>) -> Result<&'static Range, Error> {
        let pages = u32::try_from(bytes.div_ceil(PAGE_SIZE)).ok().filter(|&pages| pages > 0);
        let pages = pages.ok_or_else(|| Error::Options(format!("a range of {bytes} bytes cannot be mapped")))?;
        if fixed.is_some_and(|address| !address.is_multiple_of(PAGE_SIZE)) {
            return Err(Error::Options("the address of a range must be that of a page".to_owned()));
        }
        self.check_process()?;
        if let Some(range) = fixed.and_then(|address| self.ranges_within(address, pages as usize * PAGE_SIZE).next()) {
            // Its pages would be served as those of the range that was there.
            let (base, bytes) = (range.base, range.bytes());
            return Err(Error::Options(format!(
                "a range of {bytes} bytes is mapped at {base:#x}: it must be unmapped before another one takes its place"
            )));
        }
        // One at a time. The control connections are the keeper's, too, between two questions.
        let _one = self.mapping.lock().unwrap_or_else(PoisonError::into_inner);
        let Next { number, first } = self.ranges.next();
        let most = self.local.pages.len() as u64;
        if number == MAX_RANGES || first + u64::from(pages) > most {
            let left = (most - first) * PAGE_SIZE as u64;
            return Err(Error::Options(format!(
                "a range of {bytes} bytes does not fit into the {left} bytes and {} ranges that may still be mapped",
                MAX_RANGES - number
            )));
        }
        let layout = Layout { range: number as u32, pages: pages.into(), servers: self.servers.len(), replicas: self.options.replicas };
        let range = self.map_regions(pages, first as u32, layout, fixed);
        let range = range.inspect_err(|_| self.free_regions(&layout))?;
        self.ranges.add(range);
        Ok(range)
    }

    /// Reserves memory on the servers, and maps the range. After an error some servers may hold regions for it.
    fn map_regions(&self, pages: u32, first: u32, layout: Layout, fixed: Option<usize>) -> Result<&'static Range, Error> {
        // One that is lost gets its regions when it comes back; a page's other copy is elsewhere.
        for (index, server) in self.servers.iter().enumerate().filter(|(_, server)| layout.replicas == 0 || server.takes_writes()) {
            for copy in 0..=layout.replicas {
                let pages = layout.region_pages(index, copy);
                if pages > 0 {
                    self.reserve(index, server, layout.region(copy), pages).map_err(Error::Server)?;
                }
            }
        }
        let length = pages as usize * PAGE_SIZE;
        let file = kernel::memory_file(length).map_err(|e| Error::System("memory file", e))?;
        let (address, flags) = match fixed {
            Some(address) => (address, libc::MAP_SHARED | libc::MAP_FIXED),
            None => (0, libc::MAP_SHARED),
        };
        let address = std::ptr::with_exposed_provenance_mut(address);
        // Who counts writes looks at addresses of ranges that are gone perhaps: until it has ended they are nobody else's.
        let _no_look = self.dirty.as_ref().map(DirtyPages::hold);
        // Nobody may use it before its faults are ours; nor the kernel fill it, as it does after mlockall(MCL_FUTURE).
        // SAFETY: replaces only what the caller says may be replaced.
        let base = unsafe { libc::mmap(address, length, libc::PROT_NONE, flags | libc::MAP_NORESERVE, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(Error::System("mmap", std::io::Error::last_os_error()));
        }
        let base = base.expose_provenance();
        let range = Range { base, pages, first, layout, file };
        // A child of fork would see pages of zeros where the pages are remote, and put them into the shared file.
        // SAFETY: our mapping.
        let _ = unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(base), length, libc::MADV_DONTFORK) };
        let refused = |what, error| {
            // SAFETY: our mapping, which nobody has seen.
            unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(base), length) };
            Err(Error::System(what, error))
        };
        if let Err(error) = self.kernel.register(base, length) {
            return refused("userfaultfd", std::io::Error::from_raw_os_error(error.0));
        }
        // SAFETY: as above.
        if unsafe { libc::mprotect(std::ptr::with_exposed_provenance_mut(base), length, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return refused("mprotect", std::io::Error::last_os_error());
        }
        Ok(Box::leak(Box::new(range)))
    }

    /// Has a server reserve a region.
    fn reserve(&self, index: usize, server: &Server, region: u32, pages: u64) -> Result<(), LinkError> {
        loop {
            let (header, payload) = {
                let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
                control[index].ask(server, Op::RegionMap, region, Payload::of(&[&pages.to_le_bytes()]))?
            };
            let text = match Message::decode(&header, &payload) {
                Ok(Message::RegionMapped { pages: got }) if got == pages => return Ok(()),
                // It has just started, or makes what somebody else has given back zero. It has the memory in the end, or is full.
                Ok(Message::Error { code: ErrorCode::NotYet, .. }) => {
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                }
                Ok(Message::Error { code, text }) => format!("memory server {}: {}: {text}", server.name(), code.name()),
                Ok(other) => format!("memory server {} answers REGION_MAP with {}", server.name(), other.op().name()),
                Err(error) => format!("memory server {}: the answer to REGION_MAP: {error}", server.name()),
            };
            return Err(LinkError::Refused(text));
        }
    }

    /// Unmaps a range. Nobody may use it any more; what was in it is given up.
    ///
    /// # Errors
    /// If no range starts at the address.
    pub fn unmap(&self, base: usize) -> Result<(), Error> {
        self.give_up_range(base, Addresses::Freed)
    }

    /// Gives up a range, and leaves a mapping that nobody may use at its addresses, for who is about to unmap or map more than it: else
    /// another thread could get them meanwhile.
    ///
    /// # Errors
    /// As [`Pager::unmap`].
    pub fn vacate(&self, base: usize) -> Result<(), Error> {
        self.give_up_range(base, Addresses::Kept)
    }

    fn give_up_range(&self, base: usize, addresses: Addresses) -> Result<(), Error> {
        self.check_process()?;
        let range = self.range_at(base).filter(|range| range.base == base);
        let range = range.ok_or_else(|| Error::Options(format!("no range starts at {base:#x}")))?;
        // Takes each page from the evictor, which therefore touches none of them any more.
        let mut local = 0;
        for page in range.first..range.first + range.pages {
            loop {
                let seen = self.local.page(page).seen();
                if seen.kind() == Kind::Gone {
                    break;
                }
                if seen.kind() == Kind::Coming {
                    fault::give_up_ahead(self, page);
                }
                if let Some(claim) = self.local.page(page).claim(seen) {
                    local += u64::from(seen.kind() != Kind::Absent);
                    claim.gone();
                    break;
                }
                std::thread::yield_now();
            }
        }
        let _ = self.kernel.unregister(range.base, range.bytes());
        let at = std::ptr::with_exposed_provenance_mut(range.base);
        // SAFETY: the caller does not use it any more.
        unsafe {
            match addresses {
                Addresses::Freed => drop(libc::munmap(at, range.bytes())),
                Addresses::Kept => {
                    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
                    libc::mmap(at, range.bytes(), libc::PROT_NONE, flags, -1, 0);
                }
            }
        }
        let _ = syscall::punch_hole(range.file.as_raw_fd(), 0, range.bytes() as u64);
        life::give_room(self, local);
        // What the evictor was writing when the pages became Gone has been answered; no write of them comes any more.
        let _no_step = self.evicting.lock().unwrap_or_else(PoisonError::into_inner);
        self.free_regions(&range.layout);
        Ok(())
    }

    /// Gives the servers' memory of a range back. A server that cannot be told keeps it until the program ends.
    fn free_regions(&self, layout: &Layout) {
        (0..self.servers.len()).for_each(|index| self.free_regions_at(index, layout));
    }

    /// The same at one server.
    pub(crate) fn free_regions_at(&self, index: usize, layout: &Layout) {
        let server = &self.servers[index];
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        for copy in (0..=layout.replicas).filter(|&copy| layout.region_pages(index, copy) > 0) {
            // Once more after a connection that broke: the region may be gone by then.
            let freed = server.takes_writes()
                && (0..2).any(|_| {
                    let answer = control[index].ask(server, Op::RegionUnmap, layout.region(copy), Payload::of(&[]));
                    answer.is_ok_and(|(header, payload)| {
                        let message = Message::decode(&header, &payload);
                        matches!(message, Ok(Message::RegionUnmapped | Message::Error { code: ErrorCode::UnknownRegion, .. }))
                    })
                });
            if !freed && server.takes_writes() {
                say(format_args!("memory server {}: region {} was not given back", server.name(), layout.region(copy)));
            }
        }
    }
}
