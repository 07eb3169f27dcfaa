// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Which page lies on which servers. This file owns the arithmetic.
//!
//! A range is cut into stripes of [`STRIPE_PAGES`] pages, dealt to the servers in turn. A server's stripes of a range are one
//! region there, without holes. With a replica, the next server holds the same stripes in a second region.

/// Pages of a stripe: 4 MB. A run of read-ahead stays within one.
pub const STRIPE_PAGES: u64 = 1024;

/// A page on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Index of the server.
    pub server: usize,
    /// The region there.
    pub region: u32,
    /// The page in the region.
    pub page: u64,
}

/// How the pages of one range are dealt out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Number of the range.
    pub range: u32,
    /// Pages of the range.
    pub pages: u64,
    /// How many servers.
    pub servers: usize,
    /// How many of them hold each page beside the first: 0 or 1.
    pub replicas: usize,
}

impl Layout {
    /// Where a page is, `copy` 0 or 1.
    #[must_use]
    pub fn place(&self, page: u64, copy: usize) -> Place {
        let stripe = page / STRIPE_PAGES;
        let servers = self.servers as u64;
        Place {
            server: (stripe as usize + copy) % self.servers,
            region: self.region(copy),
            page: stripe / servers * STRIPE_PAGES + page % STRIPE_PAGES,
        }
    }

    /// Number of the region of a copy.
    #[must_use]
    pub fn region(&self, copy: usize) -> u32 {
        self.range * 2 + copy as u32 + 1
    }

    /// Pages of the region of a copy at a server; 0: there is none.
    #[must_use]
    pub fn region_pages(&self, server: usize, copy: usize) -> u64 {
        let servers = self.servers as u64;
        let first = (server + self.servers - copy) as u64 % servers;
        let stripes = self.pages.div_ceil(STRIPE_PAGES);
        if first < stripes { (stripes - first).div_ceil(servers) * STRIPE_PAGES } else { 0 }
    }

    /// How many pages from this one on lie in the same stripe of the range.
    #[must_use]
    pub fn run(&self, page: u64) -> u64 {
        (STRIPE_PAGES - page % STRIPE_PAGES).min(self.pages - page)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_page_has_its_own_place_on_different_servers() {
        for servers in 1..5 {
            for pages in [1, STRIPE_PAGES - 1, STRIPE_PAGES, STRIPE_PAGES + 1, 7 * STRIPE_PAGES + 3] {
                let layout = Layout { range: 3, pages, servers, replicas: 1 };
                let mut seen = HashSet::new();
                for page in 0..pages {
                    for copy in 0..2 {
                        let place = layout.place(page, copy);
                        assert!(seen.insert(place), "{place:?} twice");
                        assert!(place.page < layout.region_pages(place.server, copy), "{place:?} is not in its region");
                    }
                    assert!(servers == 1 || layout.place(page, 0).server != layout.place(page, 1).server);
                    let end = page + layout.run(page) - 1;
                    let (first, last) = (layout.place(page, 0), layout.place(end, 0));
                    assert_eq!((last.server, last.page - first.page), (first.server, end - page));
                }
                let regions: u64 = (0..servers).map(|server| layout.region_pages(server, 0)).sum();
                assert!(regions >= pages && regions < pages + STRIPE_PAGES, "{regions} pages for {pages}");
            }
        }
    }
}
