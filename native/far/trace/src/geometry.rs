// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Which server has which part of a heap, and what a compressed reference means. This file owns the arithmetic.

/// Bytes of an object's header that say its class and length: they lie from the eighth byte on, in one word of 8 bytes, so that one
/// server has both. Objects are aligned to 8 bytes.
pub const CLASS_OFFSET: u64 = 8;

/// Where the length of an array is.
pub const LENGTH_OFFSET: u64 = 12;

/// A reference that refers to no place where an object could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoObject;

/// A heap whose parts are dealt to servers in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Address of the heap, a multiple of 8.
    pub base: u64,
    /// Bytes of the heap, a multiple of 8.
    pub bytes: u64,
    /// Bytes of a part, a power of two from 4096 on; the pager's stripes have 4 MB.
    pub part: u64,
    /// What a compressed reference of 0 would mean, if it did not mean null.
    pub narrow_base: u64,
    /// By how many bits a compressed reference is shifted, 0 to 3.
    pub narrow_shift: u8,
    /// How many servers.
    pub servers: u8,
}

impl Geometry {
    /// Whether the numbers are possible.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.servers > 0
            && self.narrow_shift <= 3
            && self.part >= 4096
            && self.part.is_power_of_two()
            && self.base.is_multiple_of(8)
            && self.bytes.is_multiple_of(8)
            && self.base.checked_add(self.bytes).and_then(|end| end.checked_add(self.part)).is_some()
    }

    /// Whether so many bytes from an address on lie in the heap.
    #[must_use]
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        address >= self.base && address.checked_add(bytes).is_some_and(|end| end <= self.base + self.bytes)
    }

    /// The server that has an address of the heap.
    #[must_use]
    pub fn server_of(&self, address: u64) -> usize {
        (self.part_of(address) % u64::from(self.servers)) as usize
    }

    /// Where an address lies in the memory of the server that has it. A server has its parts one behind the other, as the pager deals
    /// its stripes.
    #[must_use]
    pub fn place_of(&self, address: u64) -> u64 {
        self.part_of(address) / u64::from(self.servers) * self.part + self.offset_of(address)
    }

    /// The address of a place of a server: the reverse of [`Geometry::place_of`].
    #[must_use]
    pub fn address_of(&self, server: usize, place: u64) -> u64 {
        self.base + (place / self.part * u64::from(self.servers) + server as u64) * self.part + place % self.part
    }

    /// Bytes of all parts of a server, the last one as if it were whole.
    #[must_use]
    pub fn bytes_of(&self, server: usize) -> u64 {
        let parts = self.bytes.div_ceil(self.part);
        parts.saturating_sub(server as u64).div_ceil(self.servers.into()) * self.part
    }

    fn part_of(&self, address: u64) -> u64 {
        (address - self.base) >> self.part.trailing_zeros()
    }

    fn offset_of(&self, address: u64) -> u64 {
        (address - self.base) & (self.part - 1)
    }

    /// The server that marks and scans an object: the one that has its class.
    #[must_use]
    pub fn owner_of(&self, object: u64) -> usize {
        self.server_of(object + CLASS_OFFSET)
    }

    /// How many bytes from an address on lie in the same part.
    #[must_use]
    pub fn rest_of_part(&self, address: u64) -> u64 {
        self.part - self.offset_of(address)
    }

    /// What a compressed reference refers to: nothing, an object's address, or what cannot be one.
    ///
    /// # Errors
    /// If there can be no object.
    pub fn decode(&self, narrow: u32) -> Result<Option<u64>, NoObject> {
        if narrow == 0 {
            return Ok(None);
        }
        let address = self.narrow_base.checked_add(u64::from(narrow) << self.narrow_shift).ok_or(NoObject)?;
        if self.is_object(address) { Ok(Some(address)) } else { Err(NoObject) }
    }

    /// Whether an object could be at an address: its header lies in the heap.
    #[must_use]
    pub fn is_object(&self, address: u64) -> bool {
        address.is_multiple_of(8) && self.contains(address, 16)
    }
}
