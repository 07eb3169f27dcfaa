// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Instructions of eBPF, with labels: no more of them than the program needs. The encoding is that of RFC 9669.

/// A register. R0 is a call's result, R1 to R5 its arguments, which it destroys; R10 is the end of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Reg {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// How much is loaded or stored.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Size {
    /// 4 bytes.
    U32 = 0x00,
    /// 1 byte.
    U8 = 0x10,
    /// 8 bytes.
    U64 = 0x18,
}

/// When a jump is taken; what is compared is unsigned.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum If {
    /// They are equal.
    Equal = 0x10,
    /// Any of these bits is set.
    AnyBit = 0x40,
    /// They differ.
    NotEqual = 0x50,
    /// Less or equal.
    AtMost = 0xb0,
}

/// The kernel's functions that are called.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Helper {
    MapLookupElem = 1,
    MapUpdateElem = 2,
    KtimeGetNs = 5,
}

/// A place to jump to, before it is known where that is.
#[derive(Clone, Copy, Debug)]
pub struct Label(usize);

/// Gathers instructions. Jumps go forward only.
#[derive(Debug, Default)]
pub struct Assembler {
    code: Vec<u64>,
    /// Where each label is, once it has been put somewhere.
    labels: Vec<Option<usize>>,
    /// Jumps and their labels.
    jumps: Vec<(usize, usize)>,
}

const LD_IMM64: u8 = 0x18;
const ALU64_IMM: u8 = 0x07;
const ALU64_REG: u8 = 0x0f;
const ADD: u8 = 0x00;
const SUB: u8 = 0x10;
const OR: u8 = 0x40;
const MOV: u8 = 0xb0;
const LDX_MEM: u8 = 0x61;
const ST_MEM: u8 = 0x62;
const STX_MEM: u8 = 0x63;
const STX_ATOMIC_64: u8 = 0xdb;
const JMP_IMM: u8 = 0x05;
const JMP_REG: u8 = 0x0d;
const JA: u8 = 0x05;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// What the source register of LD_IMM64 says of the immediate.
const PSEUDO_MAP_FD: u8 = 1;
const PSEUDO_MAP_VALUE: u8 = 2;

impl Assembler {
    fn emit(&mut self, opcode: u8, dst: u8, src: u8, offset: i16, immediate: i32) {
        self.code.push(
            u64::from(opcode)
                | u64::from(dst) << 8
                | u64::from(src) << 12
                | u64::from(offset as u16) << 16
                | u64::from(immediate as u32) << 32,
        );
    }

    /// A label for [`Self::put`].
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The label is here.
    pub fn put(&mut self, label: Label) {
        assert!(self.labels[label.0].is_none(), "a label is put once");
        self.labels[label.0] = Some(self.code.len());
    }

    /// `dst = value`
    pub fn set(&mut self, dst: Reg, value: i32) {
        self.emit(ALU64_IMM | MOV, dst as u8, 0, 0, value);
    }

    /// `dst = src`
    pub fn copy(&mut self, dst: Reg, src: Reg) {
        self.emit(ALU64_REG | MOV, dst as u8, src as u8, 0, 0);
    }

    /// `dst += value`
    pub fn add(&mut self, dst: Reg, value: i32) {
        self.emit(ALU64_IMM | ADD, dst as u8, 0, 0, value);
    }

    /// `dst += src`
    pub fn add_reg(&mut self, dst: Reg, src: Reg) {
        self.emit(ALU64_REG | ADD, dst as u8, src as u8, 0, 0);
    }

    /// `dst -= src`
    pub fn subtract_reg(&mut self, dst: Reg, src: Reg) {
        self.emit(ALU64_REG | SUB, dst as u8, src as u8, 0, 0);
    }

    /// `dst |= bits`
    pub fn or(&mut self, dst: Reg, bits: i32) {
        self.emit(ALU64_IMM | OR, dst as u8, 0, 0, bits);
    }

    /// `dst = *(src + offset)`
    pub fn load(&mut self, size: Size, dst: Reg, src: Reg, offset: i16) {
        self.emit(LDX_MEM | size as u8, dst as u8, src as u8, offset, 0);
    }

    /// `*(dst + offset) = src`
    pub fn store(&mut self, size: Size, dst: Reg, offset: i16, src: Reg) {
        self.emit(STX_MEM | size as u8, dst as u8, src as u8, offset, 0);
    }

    /// `*(dst + offset) = value`, of 8 bytes
    pub fn store_value(&mut self, dst: Reg, offset: i16, value: i32) {
        self.emit(ST_MEM | Size::U64 as u8, dst as u8, 0, offset, value);
    }

    /// `*(dst + offset) += src`, atomically, of 8 bytes
    pub fn atomic_add(&mut self, dst: Reg, offset: i16, src: Reg) {
        self.emit(STX_ATOMIC_64, dst as u8, src as u8, offset, i32::from(ADD));
    }

    /// Goes to the label if `left CONDITION right`.
    pub fn jump_if(&mut self, condition: If, left: Reg, right: i32, label: Label) {
        self.jumps.push((self.code.len(), label.0));
        self.emit(JMP_IMM | condition as u8, left as u8, 0, 0, right);
    }

    /// The same of two registers.
    pub fn jump_if_reg(&mut self, condition: If, left: Reg, right: Reg, label: Label) {
        self.jumps.push((self.code.len(), label.0));
        self.emit(JMP_REG | condition as u8, left as u8, right as u8, 0, 0);
    }

    /// Goes to the label.
    pub fn jump(&mut self, label: Label) {
        self.jumps.push((self.code.len(), label.0));
        self.emit(JA, 0, 0, 0, 0);
    }

    /// `dst = the map`, for a helper's argument
    pub fn load_map(&mut self, dst: Reg, fd: i32) {
        self.emit(LD_IMM64, dst as u8, PSEUDO_MAP_FD, 0, fd);
        self.code.push(0);
    }

    /// `dst = the address of the only value of an array`
    pub fn load_map_value(&mut self, dst: Reg, fd: i32) {
        self.emit(LD_IMM64, dst as u8, PSEUDO_MAP_VALUE, 0, fd);
        self.code.push(0);
    }

    /// Calls the kernel.
    pub fn call(&mut self, helper: Helper) {
        self.emit(CALL, 0, 0, 0, helper as i32);
    }

    /// Ends the program.
    pub fn exit(&mut self) {
        self.emit(EXIT, 0, 0, 0, 0);
    }

    /// The program's instructions.
    pub fn finish(mut self) -> Vec<u64> {
        for (at, label) in self.jumps {
            let to = self.labels[label].expect("all labels have been put");
            let distance = i16::try_from(to - at - 1).expect("the program is short and jumps forward");
            self.code[at] |= u64::from(distance as u16) << 16;
        }
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the specification: opcode, registers, offset, immediate; little-endian.
    #[test]
    fn encodings() {
        let mut a = Assembler::default();
        let end = a.label();
        a.load(Size::U64, Reg::R8, Reg::R6, 16);
        a.load(Size::U32, Reg::R1, Reg::R8, 2464);
        a.jump_if(If::NotEqual, Reg::R1, 77, end);
        a.store(Size::U32, Reg::R10, -4, Reg::R1);
        a.load_map(Reg::R1, 5);
        a.atomic_add(Reg::R4, 8, Reg::R5);
        a.set(Reg::R0, -1);
        a.put(end);
        a.exit();
        let bytes: Vec<[u8; 8]> = a.finish().into_iter().map(u64::to_le_bytes).collect();
        assert_eq!(
            bytes,
            [
                [0x79, 0x68, 16, 0, 0, 0, 0, 0],
                [0x61, 0x81, 0xa0, 0x09, 0, 0, 0, 0],
                [0x55, 0x01, 5, 0, 77, 0, 0, 0],
                [0x63, 0x1a, 0xfc, 0xff, 0, 0, 0, 0],
                [0x18, 0x11, 0, 0, 5, 0, 0, 0],
                [0; 8],
                [0xdb, 0x54, 8, 0, 0, 0, 0, 0],
                [0xb7, 0x00, 0, 0, 0xff, 0xff, 0xff, 0xff],
                [0x95, 0, 0, 0, 0, 0, 0, 0],
            ]
        );
    }
}
