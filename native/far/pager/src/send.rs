// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Sends dirty pages to all servers that should have them: the evictor's, before they leave, and those of who has servers trace what is local
//! (`clean.rs`). Whoever sends holds the channels over which pages are written.

use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

use lull_far_protocol::MAX_PAGES_PER_FRAME;

use crate::PAGE_SIZE;
use crate::kernel::Span;
use crate::last_words::fatal;
use crate::layout::Place;
use crate::link::Channel;
use crate::pager::Pager;
use crate::passing::Use;
use crate::syscall::{self, Errno};
use crate::write::WriteRequest;

/// Pages that are sent at once, at most.
pub const BATCH: usize = MAX_PAGES_PER_FRAME;

/// Who sends, with room for what is sent.
pub struct Sender {
    pager: &'static Pager,
    contents: Vec<u8>,
}

impl Sender {
    /// With room for as many pages as are sent at once.
    pub fn new(pager: &'static Pager) -> Sender {
        Sender { pager, contents: vec![0; BATCH * PAGE_SIZE] }
    }

    /// Sends pages, and returns when every server that should have them has acknowledged just what was sent. All servers get
    /// theirs before the first is waited for.
    pub fn send(&mut self, pages: &[u32], write: &mut [Channel]) {
        debug_assert!(pages.len() <= BATCH && pages.is_sorted());
        let pager = self.pager;
        let mut done = 0;
        for (page, span) in runs(pager, pages.iter().copied()) {
            let content = &mut self.contents[done..done + span.bytes()];
            done += span.bytes();
            match syscall::pread(pager.ranges.of(page).file.as_raw_fd(), content, span.offset) {
                Ok(count) if count == span.bytes() => {}
                Ok(_) => fatal(format_args!("cannot read page {page} of the memory file: it is too short")),
                Err(Errno(number)) => fatal(format_args!("cannot read page {page} of the memory file: error {number}")),
            }
        }
        if let Some(seals) = &pager.seals {
            pages.iter().zip(self.contents.chunks_exact_mut(PAGE_SIZE)).for_each(|(&page, content)| seals.seal(page, content));
        }
        let mut places: Vec<(Place, usize)> = (0..=pager.options.replicas)
            .flat_map(|copy| pages.iter().enumerate().map(move |(index, &page)| (copy, index, page)))
            .map(|(copy, index, page)| {
                let range = pager.ranges.of(page);
                (range.layout.place((page - range.first).into(), copy), index)
            })
            .collect();
        places.sort_unstable();
        let groups: Vec<_> = places.chunk_by(|(a, _), (b, _)| (a.server, a.region) == (b.server, b.region)).collect();
        let requests: Vec<_> = groups.iter().map(|group| WriteRequest::new(group, &self.contents)).collect();
        let asked: Vec<_> = requests.iter().map(|request| request.begin(pager, &mut write[request.server])).collect();
        let mut acknowledged = vec![false; pages.len()];
        for ((group, request), asked) in groups.iter().zip(&requests).zip(asked) {
            if request.finish(pager, &mut write[request.server], asked) {
                group.iter().for_each(|(_, index)| acknowledged[*index] = true);
            }
        }
        if let Some(index) = acknowledged.iter().position(|&done| !done) {
            let range = pager.ranges.of(pages[index]);
            let place = range.layout.place((pages[index] - range.first).into(), 0);
            fatal(format_args!(
                "memory server {} is lost, and nobody else has taken page {} of region {}; the program cannot go on",
                pager.servers[place.server].name(),
                place.page,
                place.region
            ));
        }
        pager.counters.pages_written.fetch_add(pages.len() as u64, Ordering::Relaxed);
        let young = pages.iter().filter(|&&page| pager.use_of(page) == Use::Young).count();
        pager.owner.counters.young_written.fetch_add(young as u64, Ordering::Relaxed);
    }
}

/// Ascending pages as runs, each with its first page; a run stays within its range.
pub fn runs(pager: &Pager, pages: impl Iterator<Item = u32>) -> Vec<(u32, Span)> {
    let mut runs: Vec<(u32, Span)> = Vec::new();
    for page in pages {
        let range = pager.ranges.of(page);
        match runs.last_mut() {
            Some((first, span)) if *first + span.pages as u32 == page && page != range.first => span.pages += 1,
            _ => runs.push((page, range.span(page, 1))),
        }
    }
    runs
}
