// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where the running kernel keeps what the program reads, from the kernel's own description of its types (BTF).

use btf_rs::{Btf, Struct, Type};

const VMLINUX: &str = "/sys/kernel/btf/vmlinux";

/// One bit of `task_struct`.
#[derive(Clone, Copy, Debug)]
pub struct Bit {
    pub byte: i16,
    pub mask: i32,
}

/// Offsets in `task_struct`, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Offsets {
    pub pid: i16,
    pub tgid: i16,
    /// `sched_info.run_delay`: nanoseconds that the thread has been ready without a processor.
    pub run_delay: i16,
    pub in_iowait: Bit,
    /// Not in kernels without pressure stall information.
    pub in_memstall: Option<Bit>,
    /// The tracepoint's type, which a program is attached to.
    pub sched_switch: u32,
}

impl Offsets {
    /// An error says what this kernel lacks.
    pub fn of_this_kernel() -> Result<Self, String> {
        let btf = Btf::from_file(VMLINUX).map_err(|error| format!("{VMLINUX}: {error} (a kernel with CONFIG_DEBUG_INFO_BTF=y has it)"))?;
        let task = structure(&btf, "task_struct")?;
        let sched_info = structure(&btf, "sched_info")?;
        Ok(Self {
            pid: byte_offset(&btf, &task, "pid")?,
            tgid: byte_offset(&btf, &task, "tgid")?,
            run_delay: small(
                u32::from(byte_offset(&btf, &task, "sched_info")? as u16) + u32::from(byte_offset(&btf, &sched_info, "run_delay")? as u16),
            )?,
            in_iowait: bit(&btf, &task, "in_iowait")?,
            in_memstall: bit(&btf, &task, "in_memstall").ok(),
            sched_switch: tracepoint(&btf)?,
        })
    }
}

fn structure(btf: &Btf, name: &str) -> Result<Struct, String> {
    let types = btf.resolve_types_by_name(name).map_err(|error| format!("no type {name} in {VMLINUX}: {error}"))?;
    types
        .into_iter()
        .find_map(|found| if let Type::Struct(found) = found { Some(found) } else { None })
        .ok_or(format!("no struct {name} in {VMLINUX}"))
}

/// In bits. Members of anonymous structs and unions are found, too.
fn bit_offset(btf: &Btf, of: &Struct, name: &str) -> Option<(u32, Option<u32>)> {
    for member in &of.members {
        match btf.resolve_name(member) {
            Ok(found) if found == name => return Some((member.bit_offset(), member.bitfield_size())),
            Ok(found) if !found.is_empty() => {}
            _ => {
                if let Ok(Type::Struct(inner) | Type::Union(inner)) = btf.resolve_chained_type(member)
                    && let Some((offset, size)) = bit_offset(btf, &inner, name)
                {
                    return Some((member.bit_offset() + offset, size));
                }
            }
        }
    }
    None
}

fn byte_offset(btf: &Btf, of: &Struct, name: &str) -> Result<i16, String> {
    let (offset, _) = bit_offset(btf, of, name).ok_or(format!("this kernel's threads have no {name}"))?;
    small(offset / 8)
}

fn small(offset: u32) -> Result<i16, String> {
    i16::try_from(offset).map_err(|_| format!("offset {offset} in task_struct is beyond what an instruction can say"))
}

fn bit(btf: &Btf, of: &Struct, name: &str) -> Result<Bit, String> {
    let (offset, size) = bit_offset(btf, of, name).ok_or(format!("this kernel's threads have no {name}"))?;
    if size.is_some_and(|size| size != 1) {
        return Err(format!("{name} has {size:?} bits, expected 1"));
    }
    Ok(Bit { byte: small(offset / 8)?, mask: 1 << (offset % 8) })
}

/// The tracepoint's type: a pointer to a function (void*, preempt, prev, next, prev_state), the last since Linux 5.18.
fn tracepoint(btf: &Btf) -> Result<u32, String> {
    const NAME: &str = "btf_trace_sched_switch";
    let missing = |error: &dyn std::fmt::Display| format!("no tracepoint sched_switch in {VMLINUX}: {error}");
    for id in btf.resolve_ids_by_name(NAME).map_err(|error| missing(&error))? {
        let Type::Typedef(definition) = btf.resolve_type_by_id(id).map_err(|error| missing(&error))? else { continue };
        let Type::Ptr(pointer) = btf.resolve_chained_type(&definition).map_err(|error| missing(&error))? else { continue };
        let Type::FuncProto(function) = btf.resolve_chained_type(&pointer).map_err(|error| missing(&error))? else { continue };
        let parameters = function.parameters.len();
        return if parameters == 5 {
            Ok(id)
        } else {
            Err(format!("sched_switch has {parameters} arguments, expected 5: this needs Linux 5.18 or later"))
        };
    }
    Err(missing(&"no such type"))
}
