// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where the objects of a class have their references. References are compressed, 4 bytes each.

/// The most layouts of a cycle, and blocks of references in them: a client may not send more, and no more classes may wait for theirs.
pub const LAYOUTS: usize = 1 << 20;

/// A run of references in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// From the object's address, in bytes.
    pub offset: u32,
    /// How many references.
    pub count: u32,
}

/// What the objects of a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary object.
    Instance,
    /// A `java.lang.ref.Reference` that is not strong: what it refers to is not followed, the object is listed.
    Reference {
        /// Where the referent is, which is in no block.
        referent: u32,
    },
    /// A `java.lang.Class`: it has the static fields of its class behind its own.
    Mirror {
        /// Where the number of references among them is, 4 bytes.
        count: u32,
        /// Where the first of them is.
        statics: u32,
        /// Where the number of its own words of 8 bytes is, 4 bytes; 0: nobody has said. Below 1024.
        words: u32,
    },
    /// An array of references.
    ObjArray {
        /// Where the first element is.
        base: u32,
    },
    /// An array of numbers.
    TypeArray {
        /// An element has 2 to the power of so many bytes, 0 to 3.
        shift: u32,
    },
}

/// The layout of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The compressed class pointer, as in the objects. Not 0.
    pub klass: u32,
    /// What its objects are.
    pub kind: Kind,
    /// Bytes of an instance; of an array, those of its header.
    pub bytes: u32,
    /// References of an instance, all kinds but arrays.
    pub blocks: Vec<Block>,
}

impl Layout {
    /// What is impossible in it, if anything.
    ///
    /// # Errors
    /// The name of the field.
    pub fn check(&self) -> Result<(), &'static str> {
        let slot = |offset: u32| offset >= 12 && offset.is_multiple_of(4) && u64::from(offset) + 4 <= u64::from(self.bytes);
        if self.klass == 0 {
            return Err("class 0");
        }
        if self.bytes < 16 || !self.bytes.is_multiple_of(8) {
            return Err("size");
        }
        for block in &self.blocks {
            let end = u64::from(block.offset) + 4 * u64::from(block.count);
            if !slot(block.offset) || block.count == 0 || end > u64::from(self.bytes) {
                return Err("block of references");
            }
        }
        match self.kind {
            Kind::Instance => Ok(()),
            Kind::Reference { referent } => {
                let followed = |block: &Block| (block.offset..block.offset + 4 * block.count).contains(&referent);
                if slot(referent) && !self.blocks.iter().any(followed) { Ok(()) } else { Err("referent") }
            }
            Kind::Mirror { count, statics, words } => {
                let is_place = words == 0 || (slot(words) && words < 1024);
                if slot(count) && is_place && statics >= 12 && statics.is_multiple_of(4) { Ok(()) } else { Err("static fields") }
            }
            Kind::ObjArray { base } if base < 16 || !base.is_multiple_of(4) => Err("first element"),
            Kind::TypeArray { shift } if shift > 3 => Err("size of an element"),
            Kind::ObjArray { .. } | Kind::TypeArray { .. } if !self.blocks.is_empty() => Err("block of references in an array"),
            Kind::ObjArray { .. } | Kind::TypeArray { .. } => Ok(()),
        }
    }
}
