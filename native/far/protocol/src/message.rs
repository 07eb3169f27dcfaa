// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The payloads: what each operation says, and the checks that a payload passes before anybody acts on it.
//!
//! All numbers are little-endian. A field that this version does not use is zero, and another value is refused, so that a
//! later version can give it a meaning.

use alloc::vec::Vec;

use crate::{DecodeError, ErrorCode, HEADER_LEN, Header, MAX_ERROR_TEXT, MAX_PAGES_PER_FRAME, Op, PAGE_SIZE, seal};

/// Bytes of the payload of a HELLO.
pub const HELLO_LEN: usize = 40;
/// Bytes of the payload of a HELLO_ACK.
pub const HELLO_ACK_LEN: usize = 48;
/// Bytes of the payload of a FETCH, and of what stands before the pages of a DATA.
pub const FETCH_LEN: usize = 16;
/// Bytes of the payload of a DISCARD.
pub const DISCARD_LEN: usize = 16;
/// Bytes of the payload of a CHALLENGE.
pub const CHALLENGE_LEN: usize = 32;
/// Bytes of the payload of a PROVE.
pub const PROVE_LEN: usize = 80;
/// Bytes of the payload of a PROVED.
pub const PROVED_LEN: usize = 32 + HELLO_ACK_LEN;
/// Bytes that stand before the page numbers of a WRITE.
pub const WRITE_FIXED_LEN: usize = 8;

/// What a connection is for. Each kind allows other operations, so that a long write never delays a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ChannelKind {
    /// REGION_MAP, REGION_UNMAP, HEARTBEAT, BYE, and all of a client's for tracing.
    Control = 0,
    /// FETCH.
    Fetch = 1,
    /// WRITE, DISCARD, FENCE.
    Write = 2,
    /// GHOST, of another server that traces for the same client.
    Peer = 3,
}

impl ChannelKind {
    /// Whether a client may send the operation on a channel of this kind (HELLO only as the first frame).
    #[must_use]
    pub const fn allows(self, op: Op) -> bool {
        match self {
            ChannelKind::Control => matches!(
                op,
                Op::RegionMap
                    | Op::RegionUnmap
                    | Op::Heartbeat
                    | Op::Bye
                    | Op::Leave
                    | Op::Layout
                    | Op::TraceStart
                    | Op::TraceRoots
                    | Op::TraceOld
                    | Op::Poll
                    | Op::TraceEnd
                    | Op::ReadBitmap
                    | Op::ReadDiscovered
                    | Op::ReadLines
                    | Op::ReadLive
            ),
            ChannelKind::Fetch => matches!(op, Op::Fetch),
            ChannelKind::Write => matches!(op, Op::Write | Op::Discard | Op::Fence),
            ChannelKind::Peer => matches!(op, Op::Ghost),
        }
    }

    /// The name that logs use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ChannelKind::Control => "control",
            ChannelKind::Fetch => "fetch",
            ChannelKind::Write => "write",
            ChannelKind::Peer => "peer",
        }
    }
}

/// Who is there, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The oldest version that the client speaks.
    pub version_min: u16,
    /// The newest.
    pub version_max: u16,
    /// The logarithm of the client's page size.
    pub page_size_log2: u8,
    /// What the connection is for.
    pub kind: ChannelKind,
    /// The number of the channel among those of this client and kind.
    pub channel: u16,
    /// Counts the connections of this channel. A higher one takes the channel over; the server answers only when nothing
    /// that arrived on the older connection can be applied any more.
    pub generation: u64,
    /// Features that the client needs: [`crate::FEATURE_KEY`].
    pub features: u64,
    /// A random number that the client has drawn for its lifetime. The regions belong to it.
    pub client: [u8; 16],
}

impl Hello {
    /// Of a client that has no key, and so speaks plainly.
    #[must_use]
    pub const fn new(kind: ChannelKind, channel: u16, generation: u64, client: [u8; 16]) -> Hello {
        Hello {
            version_min: crate::VERSION_PLAIN,
            version_max: crate::VERSION_PLAIN,
            page_size_log2: crate::PAGE_SIZE_LOG2,
            kind,
            channel,
            generation,
            features: 0,
            client,
        }
    }

    /// The same of a client that has a key, and speaks one version only.
    #[must_use]
    pub const fn with_key(self, version: u16) -> Hello {
        Hello { version_min: version, version_max: version, features: self.features | crate::FEATURE_KEY, ..self }
    }

    /// The payload.
    #[must_use]
    pub fn payload(&self) -> [u8; HELLO_LEN] {
        let mut bytes = [0; HELLO_LEN];
        bytes[..2].copy_from_slice(&self.version_min.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.version_max.to_le_bytes());
        bytes[4..6].copy_from_slice(&[self.page_size_log2, self.kind as u8]);
        bytes[6..8].copy_from_slice(&self.channel.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.generation.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.features.to_le_bytes());
        bytes[24..].copy_from_slice(&self.client);
        bytes
    }

    fn decode(payload: &[u8]) -> Result<Hello, DecodeError> {
        let op = Op::Hello;
        exact(op, payload, HELLO_LEN)?;
        let kind = match payload[5] {
            0 => ChannelKind::Control,
            1 => ChannelKind::Fetch,
            2 => ChannelKind::Write,
            3 => ChannelKind::Peer,
            other => return Err(DecodeError::Field { op: op.name(), field: "kind of channel", value: other.into() }),
        };
        Ok(Hello {
            version_min: u16_at(payload, 0),
            version_max: u16_at(payload, 2),
            page_size_log2: payload[4],
            kind,
            channel: u16_at(payload, 6),
            generation: u64_at(payload, 8),
            features: u64_at(payload, 16),
            client: array_at(payload, 24),
        })
    }
}

/// What holds on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloAck {
    /// The version that both speak.
    pub version: u16,
    /// The logarithm of the server's page size.
    pub page_size_log2: u8,
    /// The most pages of one frame.
    pub max_pages: u32,
    /// Features that hold on this connection: those of the HELLO.
    pub features: u64,
    /// A random number that the server has drawn when it started: another one means that all pages are gone.
    pub session: [u8; 16],
    /// Bytes that the server has for clients. It may not have the memory of all of them yet.
    pub capacity: u64,
    /// Bytes of it that no region has.
    pub free: u64,
}

impl HelloAck {
    /// The payload.
    #[must_use]
    pub fn payload(&self) -> [u8; HELLO_ACK_LEN] {
        let mut bytes = [0; HELLO_ACK_LEN];
        bytes[..2].copy_from_slice(&self.version.to_le_bytes());
        bytes[2] = self.page_size_log2;
        bytes[4..8].copy_from_slice(&self.max_pages.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.features.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.session);
        bytes[32..40].copy_from_slice(&self.capacity.to_le_bytes());
        bytes[40..].copy_from_slice(&self.free.to_le_bytes());
        bytes
    }

    fn decode(op: Op, payload: &[u8]) -> Result<HelloAck, DecodeError> {
        zero(op, "byte 3", payload[3].into())?;
        Ok(HelloAck {
            version: u16_at(payload, 0),
            page_size_log2: payload[2],
            max_pages: u32_at(payload, 4),
            features: u64_at(payload, 8),
            session: array_at(payload, 16),
            capacity: u64_at(payload, 32),
            free: u64_at(payload, 40),
        })
    }
}

/// What a client shows for its key. `lull-far-auth` knows how it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prove {
    /// Which key: a number that is derived from it.
    pub key: [u8; 16],
    /// The public part of what the client has drawn for this connection, and so random.
    pub nonce: [u8; 32],
    /// The proof.
    pub proof: [u8; 32],
}

/// What a server shows for its key, and what holds on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proved {
    /// The proof. It covers `ack`.
    pub proof: [u8; 32],
    /// As in a HELLO_ACK.
    pub ack: HelloAck,
}

/// A run of pages of the header's region. FETCH asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The first page's number.
    pub first: u64,
    /// How many, 1 to [`MAX_PAGES_PER_FRAME`].
    pub count: u32,
}

impl Fetch {
    /// The whole frame. For a thread that must not allocate.
    #[must_use]
    pub fn frame(&self, sequence: u64, region: u32) -> [u8; HEADER_LEN + FETCH_LEN] {
        let payload = self.payload();
        let mut bytes = [0; HEADER_LEN + FETCH_LEN];
        bytes[..HEADER_LEN].copy_from_slice(&seal(Op::Fetch, sequence, region, &[&payload]));
        bytes[HEADER_LEN..].copy_from_slice(&payload);
        bytes
    }

    /// The payload of a FETCH; it also stands before the pages of a DATA.
    #[must_use]
    pub fn payload(&self) -> [u8; FETCH_LEN] {
        let mut bytes = [0; FETCH_LEN];
        bytes[..8].copy_from_slice(&self.first.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    fn decode(op: Op, bytes: &[u8]) -> Result<Fetch, DecodeError> {
        let first = u64_at(bytes, 0);
        let count = u32_at(bytes, 8);
        zero(op, "bytes 12 to 15", u32_at(bytes, 12).into())?;
        page_count(op, count)?;
        run_end(op, first, count.into())?;
        Ok(Fetch { first, count })
    }
}

/// A run of pages with what is in them, of a DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOfPages<'a> {
    /// Which pages.
    pub run: Fetch,
    /// Their bytes, one page after the other.
    pub bytes: &'a [u8],
}

impl<'a> RunOfPages<'a> {
    fn decode(payload: &'a [u8]) -> Result<RunOfPages<'a>, DecodeError> {
        let op = Op::Data;
        if payload.len() < FETCH_LEN {
            return Err(DecodeError::Length { what: op.name(), got: payload.len(), want: FETCH_LEN });
        }
        let (fixed, bytes) = payload.split_at(FETCH_LEN);
        let run = Fetch::decode(op, fixed)?;
        exact(op, payload, FETCH_LEN + run.count as usize * PAGE_SIZE)?;
        Ok(RunOfPages { run, bytes })
    }
}

/// A run of pages that nobody needs any more, of any length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discard {
    /// The first page's number.
    pub first: u64,
    /// How many, at least 1.
    pub count: u64,
}

impl Discard {
    /// The payload of a DISCARD and of its answer.
    #[must_use]
    pub fn payload(&self) -> [u8; DISCARD_LEN] {
        let mut bytes = [0; DISCARD_LEN];
        bytes[..8].copy_from_slice(&self.first.to_le_bytes());
        bytes[8..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    fn decode(op: Op, payload: &[u8]) -> Result<Discard, DecodeError> {
        exact(op, payload, DISCARD_LEN)?;
        let run = Discard { first: u64_at(payload, 0), count: u64_at(payload, 8) };
        if run.count == 0 {
            return Err(DecodeError::Field { op: op.name(), field: "count", value: 0 });
        }
        run_end(op, run.first, run.count)?;
        Ok(run)
    }
}

/// Pages to replace, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write<'a> {
    /// The page numbers, 8 bytes each.
    numbers: &'a [u8],
    /// The pages, in the order of the numbers.
    bytes: &'a [u8],
}

impl<'a> Write<'a> {
    /// The first bytes of the payload of a WRITE of so many pages; the numbers and then the pages follow.
    #[must_use]
    pub fn fixed(count: u32) -> [u8; WRITE_FIXED_LEN] {
        let mut bytes = [0; WRITE_FIXED_LEN];
        bytes[..4].copy_from_slice(&count.to_le_bytes());
        bytes
    }

    /// How many pages.
    #[must_use]
    pub fn count(&self) -> usize {
        self.numbers.len() / 8
    }

    /// The highest page number.
    #[must_use]
    pub fn last(&self) -> u64 {
        u64_at(self.numbers, self.numbers.len() - 8)
    }

    /// The pages with their numbers, ascending.
    #[must_use]
    pub fn pages(&self) -> PagesOf<'a> {
        PagesOf { numbers: self.numbers, bytes: self.bytes }
    }

    fn decode(payload: &'a [u8]) -> Result<Write<'a>, DecodeError> {
        let op = Op::Write;
        if payload.len() < WRITE_FIXED_LEN {
            return Err(DecodeError::Length { what: op.name(), got: payload.len(), want: WRITE_FIXED_LEN });
        }
        let count = u32_at(payload, 0);
        zero(op, "bytes 4 to 7", u32_at(payload, 4).into())?;
        page_count(op, count)?;
        exact(op, payload, WRITE_FIXED_LEN + count as usize * (8 + PAGE_SIZE))?;
        let (numbers, bytes) = payload[WRITE_FIXED_LEN..].split_at(count as usize * 8);
        let mut below = None;
        for number in numbers.chunks_exact(8) {
            let number = u64_at(number, 0);
            if below.is_some_and(|below| number <= below) {
                return Err(DecodeError::Field { op: op.name(), field: "page number after a higher or the same one", value: number });
            }
            below = Some(number);
        }
        run_end(op, below.unwrap_or(0), 1)?;
        Ok(Write { numbers, bytes })
    }
}

/// The pages of a [`Write`] with their numbers.
#[derive(Clone, Debug)]
pub struct PagesOf<'a> {
    numbers: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Iterator for PagesOf<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.numbers.len() < 8 || self.bytes.len() < PAGE_SIZE {
            return None;
        }
        let (number, numbers) = self.numbers.split_at(8);
        let (page, bytes) = self.bytes.split_at(PAGE_SIZE);
        self.numbers = numbers;
        self.bytes = bytes;
        Some((u64_at(number, 0), page))
    }
}

/// All pages of a WRITE are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteAck {
    /// How many pages.
    pub count: u32,
    /// CRC32C of these pages, read again from the server's memory after they were replaced, in the order of the WRITE. The
    /// client drops its own copies only if this is the checksum of what it sent.
    pub content_crc: u32,
}

/// How the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// Bytes that the server has for clients. It may not have the memory of all of them yet.
    pub capacity: u64,
    /// Bytes of it that no region has.
    pub free: u64,
    /// Whether the server is being stopped; it takes no new regions then.
    pub stopping: bool,
}

impl Heartbeat {
    fn decode(payload: &[u8]) -> Result<Heartbeat, DecodeError> {
        let op = Op::HeartbeatAck;
        exact(op, payload, 24)?;
        let stopping = u64_at(payload, 16);
        if stopping > 1 {
            return Err(DecodeError::Field { op: op.name(), field: "stopping", value: stopping });
        }
        Ok(Heartbeat { capacity: u64_at(payload, 0), free: u64_at(payload, 8), stopping: stopping == 1 })
    }
}

/// A payload that has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each is what its operation's documentation in `Op` says
pub enum Message<'a> {
    Hello(Hello),
    HelloAck(HelloAck),
    Challenge([u8; CHALLENGE_LEN]),
    Prove(Prove),
    Proved(Proved),
    RegionMap {
        pages: u64,
    },
    RegionMapped {
        pages: u64,
    },
    Fetch(Fetch),
    Data(RunOfPages<'a>),
    Write(Write<'a>),
    WriteAck(WriteAck),
    Fence,
    FenceAck,
    Discard(Discard),
    DiscardAck(Discard),
    Heartbeat,
    HeartbeatAck(Heartbeat),
    Error {
        code: ErrorCode,
        text: &'a str,
    },
    Bye,
    Leave,
    RegionUnmap,
    RegionUnmapped,
    /// Any operation for tracing. Its checksum and greatest length were right; `lull-far-trace` knows its fields.
    Trace {
        op: Op,
        payload: &'a [u8],
    },
}

impl<'a> Message<'a> {
    /// Decodes the payload of a header. Checks the payload's checksum, its length, and each field.
    ///
    /// # Errors
    /// What was wrong; nothing has been allocated.
    pub fn decode(header: &Header, payload: &'a [u8]) -> Result<Message<'a>, DecodeError> {
        header.check(payload)?;
        Message::decode_proven(header, payload)
    }

    /// The same of a payload that has been proven to be this header's: it has no checksum.
    ///
    /// # Errors
    /// As [`Message::decode`].
    pub fn decode_proven(header: &Header, payload: &'a [u8]) -> Result<Message<'a>, DecodeError> {
        let op = header.op;
        match op {
            Op::Hello => Hello::decode(payload).map(Message::Hello),
            Op::HelloAck => {
                exact(op, payload, HELLO_ACK_LEN)?;
                Ok(Message::HelloAck(HelloAck::decode(op, payload)?))
            }
            Op::Challenge => {
                exact(op, payload, CHALLENGE_LEN)?;
                Ok(Message::Challenge(array_at(payload, 0)))
            }
            Op::Prove => {
                exact(op, payload, PROVE_LEN)?;
                Ok(Message::Prove(Prove { key: array_at(payload, 0), nonce: array_at(payload, 16), proof: array_at(payload, 48) }))
            }
            Op::Proved => {
                exact(op, payload, PROVED_LEN)?;
                Ok(Message::Proved(Proved { proof: array_at(payload, 0), ack: HelloAck::decode(op, &payload[32..])? }))
            }
            Op::RegionMap => region_pages(op, payload).map(|pages| Message::RegionMap { pages }),
            Op::RegionMapped => region_pages(op, payload).map(|pages| Message::RegionMapped { pages }),
            Op::Fetch => {
                exact(op, payload, FETCH_LEN)?;
                Ok(Message::Fetch(Fetch::decode(op, payload)?))
            }
            Op::Data => RunOfPages::decode(payload).map(Message::Data),
            Op::Write => Ok(Message::Write(Write::decode(payload)?)),
            Op::WriteAck => {
                exact(op, payload, 8)?;
                page_count(op, u32_at(payload, 0))?;
                Ok(Message::WriteAck(WriteAck { count: u32_at(payload, 0), content_crc: u32_at(payload, 4) }))
            }
            Op::Discard => Discard::decode(op, payload).map(Message::Discard),
            Op::DiscardAck => Discard::decode(op, payload).map(Message::DiscardAck),
            Op::HeartbeatAck => Heartbeat::decode(payload).map(Message::HeartbeatAck),
            Op::Error => decode_error(payload),
            Op::Fence => exact(op, payload, 0).map(|()| Message::Fence),
            Op::FenceAck => exact(op, payload, 0).map(|()| Message::FenceAck),
            Op::Heartbeat => exact(op, payload, 0).map(|()| Message::Heartbeat),
            Op::Bye => exact(op, payload, 0).map(|()| Message::Bye),
            Op::Leave => exact(op, payload, 0).map(|()| Message::Leave),
            Op::RegionUnmap => exact(op, payload, 0).map(|()| Message::RegionUnmap),
            Op::RegionUnmapped => exact(op, payload, 0).map(|()| Message::RegionUnmapped),
            Op::Layout
            | Op::NeedLayout
            | Op::TraceStart
            | Op::TraceRoots
            | Op::TraceOld
            | Op::Ghost
            | Op::GhostAck
            | Op::Poll
            | Op::Status
            | Op::TraceEnd
            | Op::Bitmap
            | Op::LiveStats
            | Op::Discovered
            | Op::ReadBitmap
            | Op::ReadDiscovered
            | Op::ReadLines
            | Op::Lines
            | Op::ReadLive
            | Op::Live => Ok(Message::Trace { op, payload }),
        }
    }

    /// The operation of this message.
    #[must_use]
    pub const fn op(&self) -> Op {
        match self {
            Message::Hello(_) => Op::Hello,
            Message::HelloAck(_) => Op::HelloAck,
            Message::Challenge(_) => Op::Challenge,
            Message::Prove(_) => Op::Prove,
            Message::Proved(_) => Op::Proved,
            Message::RegionMap { .. } => Op::RegionMap,
            Message::RegionMapped { .. } => Op::RegionMapped,
            Message::Fetch(_) => Op::Fetch,
            Message::Data(_) => Op::Data,
            Message::Write(_) => Op::Write,
            Message::WriteAck(_) => Op::WriteAck,
            Message::Fence => Op::Fence,
            Message::FenceAck => Op::FenceAck,
            Message::Discard(_) => Op::Discard,
            Message::DiscardAck(_) => Op::DiscardAck,
            Message::Heartbeat => Op::Heartbeat,
            Message::HeartbeatAck(_) => Op::HeartbeatAck,
            Message::Error { .. } => Op::Error,
            Message::Bye => Op::Bye,
            Message::Leave => Op::Leave,
            Message::RegionUnmap => Op::RegionUnmap,
            Message::RegionUnmapped => Op::RegionUnmapped,
            Message::Trace { op, .. } => *op,
        }
    }

    /// Appends the whole frame to a buffer. A text that is too long for an ERROR is cut at a character.
    pub fn encode(&self, sequence: u64, region: u32, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_LEN]);
        match self {
            Message::Hello(hello) => out.extend_from_slice(&hello.payload()),
            Message::HelloAck(ack) => out.extend_from_slice(&ack.payload()),
            Message::Challenge(nonce) => out.extend_from_slice(nonce),
            Message::Prove(prove) => {
                out.extend_from_slice(&prove.key);
                out.extend_from_slice(&prove.nonce);
                out.extend_from_slice(&prove.proof);
            }
            Message::Proved(proved) => {
                out.extend_from_slice(&proved.proof);
                out.extend_from_slice(&proved.ack.payload());
            }
            Message::RegionMap { pages } | Message::RegionMapped { pages } => out.extend_from_slice(&pages.to_le_bytes()),
            Message::Fetch(run) => out.extend_from_slice(&run.payload()),
            Message::Data(data) => {
                out.extend_from_slice(&data.run.payload());
                out.extend_from_slice(data.bytes);
            }
            Message::Write(write) => {
                out.extend_from_slice(&Write::fixed(u32::try_from(write.count()).unwrap_or(u32::MAX)));
                out.extend_from_slice(write.numbers);
                out.extend_from_slice(write.bytes);
            }
            Message::WriteAck(ack) => {
                out.extend_from_slice(&ack.count.to_le_bytes());
                out.extend_from_slice(&ack.content_crc.to_le_bytes());
            }
            Message::Discard(run) | Message::DiscardAck(run) => out.extend_from_slice(&run.payload()),
            Message::HeartbeatAck(state) => {
                out.extend_from_slice(&state.capacity.to_le_bytes());
                out.extend_from_slice(&state.free.to_le_bytes());
                out.extend_from_slice(&u64::from(state.stopping).to_le_bytes());
            }
            Message::Error { code, text } => {
                out.extend_from_slice(&(*code as u16).to_le_bytes());
                out.extend_from_slice(&[0; 2]);
                let mut end = text.len().min(MAX_ERROR_TEXT);
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                out.extend_from_slice(&text.as_bytes()[..end]);
            }
            Message::Trace { payload, .. } => out.extend_from_slice(payload),
            Message::Fence
            | Message::FenceAck
            | Message::Heartbeat
            | Message::Bye
            | Message::Leave
            | Message::RegionUnmap
            | Message::RegionUnmapped => {}
        }
        let header = seal(self.op(), sequence, region, &[&out[start + HEADER_LEN..]]);
        out[start..start + HEADER_LEN].copy_from_slice(&header);
    }
}

/// Appends the frame of a WRITE. The numbers ascend, and there is one page of bytes for each.
pub fn encode_write(sequence: u64, region: u32, numbers: &[u64], bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_LEN]);
    out.extend_from_slice(&Write::fixed(u32::try_from(numbers.len()).unwrap_or(u32::MAX)));
    for number in numbers {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(bytes);
    let header = seal(Op::Write, sequence, region, &[&out[start + HEADER_LEN..]]);
    out[start..start + HEADER_LEN].copy_from_slice(&header);
}

/// The pages of a region that is to be mapped, or was.
fn region_pages(op: Op, payload: &[u8]) -> Result<u64, DecodeError> {
    exact(op, payload, 8)?;
    let pages = u64_at(payload, 0);
    if pages == 0 || pages > u64::MAX / PAGE_SIZE as u64 {
        return Err(DecodeError::Field { op: op.name(), field: "pages", value: pages });
    }
    Ok(pages)
}

fn decode_error(payload: &[u8]) -> Result<Message<'_>, DecodeError> {
    let op = Op::Error;
    if payload.len() < 4 {
        return Err(DecodeError::Length { what: op.name(), got: payload.len(), want: 4 });
    }
    zero(op, "bytes 2 and 3", u16_at(payload, 2).into())?;
    let number = u16_at(payload, 0);
    let code = ErrorCode::from_number(number).ok_or(DecodeError::Field { op: op.name(), field: "code", value: number.into() })?;
    let text = core::str::from_utf8(&payload[4..]).map_err(|e| DecodeError::Field {
        op: op.name(),
        field: "text, UTF-8 only up to byte",
        value: e.valid_up_to() as u64,
    })?;
    Ok(Message::Error { code, text })
}

fn exact(op: Op, payload: &[u8], want: usize) -> Result<(), DecodeError> {
    if payload.len() == want { Ok(()) } else { Err(DecodeError::Length { what: op.name(), got: payload.len(), want }) }
}

fn zero(op: Op, field: &'static str, value: u64) -> Result<(), DecodeError> {
    if value == 0 { Ok(()) } else { Err(DecodeError::Field { op: op.name(), field, value }) }
}

fn page_count(op: Op, count: u32) -> Result<(), DecodeError> {
    if (1..=MAX_PAGES_PER_FRAME).contains(&(count as usize)) {
        Ok(())
    } else {
        Err(DecodeError::Field { op: op.name(), field: "count of pages", value: count.into() })
    }
}

/// A run whose end cannot be said in bytes would make an address computation wrap.
fn run_end(op: Op, first: u64, count: u64) -> Result<(), DecodeError> {
    match first.checked_add(count).and_then(|end| end.checked_mul(PAGE_SIZE as u64)) {
        Some(_) => Ok(()),
        None => Err(DecodeError::Field { op: op.name(), field: "page number", value: first }),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut result = [0; N];
    result.copy_from_slice(&bytes[at..at + N]);
    result
}
