// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Properties of the codec: what is encoded is decoded again, and nothing that differs from it by a bit or by its end is.

use lull_far_protocol::{
    ChannelKind, DecodeError, Discard, ErrorCode, Fetch, HEADER_LEN, Header, Heartbeat, Hello, HelloAck, MAX_PAYLOAD, Message, Op,
    PAGE_SIZE, Prove, Proved, RESERVED_OPS, RunOfPages, VERSION_ENCRYPTED, WriteAck, crc32c_join, crc32c_of, encode_write, seal,
};
use proptest::prelude::*;

/// Decodes one frame from the start of some bytes, and says how long it was.
fn decode(bytes: &[u8]) -> Result<(Header, Message<'_>, usize), DecodeError> {
    let head: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(DecodeError::Length { what: "header", got: bytes.len(), want: HEADER_LEN })?;
    let header = Header::decode(head)?;
    let end = HEADER_LEN + header.len as usize;
    let payload = bytes.get(HEADER_LEN..end).ok_or(DecodeError::Length { what: "payload", got: bytes.len(), want: end })?;
    Ok((header, Message::decode(&header, payload)?, end))
}

/// A message in a form that owns its bytes.
#[derive(Clone, Debug)]
enum Owned {
    Plain(Message<'static>),
    Data(Fetch, u64),
    Write(Vec<u64>, u64),
    Error(ErrorCode, String),
}

fn page_bytes(pages: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    (0..pages * PAGE_SIZE)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

fn encode(message: &Owned, sequence: u64, region: u32) -> Vec<u8> {
    let mut out = Vec::new();
    match message {
        Owned::Plain(message) => message.encode(sequence, region, &mut out),
        Owned::Data(run, seed) => {
            let bytes = page_bytes(run.count as usize, *seed);
            Message::Data(RunOfPages { run: *run, bytes: &bytes }).encode(sequence, region, &mut out);
        }
        Owned::Write(numbers, seed) => encode_write(sequence, region, numbers, &page_bytes(numbers.len(), *seed), &mut out),
        Owned::Error(code, text) => Message::Error { code: *code, text }.encode(sequence, region, &mut out),
    }
    out
}

fn run() -> impl Strategy<Value = Fetch> {
    (0..1_u64 << 40, 1..=4_u32).prop_map(|(first, count)| Fetch { first, count })
}

fn message() -> impl Strategy<Value = Owned> {
    let kind = prop_oneof![Just(ChannelKind::Control), Just(ChannelKind::Fetch), Just(ChannelKind::Write), Just(ChannelKind::Peer)];
    prop_oneof![
        (any::<(u16, u16, u8)>(), kind, any::<(u16, u64, u64, [u8; 16])>()).prop_map(|(versions, kind, rest)| Owned::Plain(
            Message::Hello(Hello {
                version_min: versions.0,
                version_max: versions.1,
                page_size_log2: versions.2,
                kind,
                channel: rest.0,
                generation: rest.1,
                features: rest.2,
                client: rest.3,
            })
        )),
        any::<(u16, u8, u32, u64, [u8; 16], u64, u64)>().prop_map(|f| Owned::Plain(Message::HelloAck(HelloAck {
            version: f.0,
            page_size_log2: f.1,
            max_pages: f.2,
            features: f.3,
            session: f.4,
            capacity: f.5,
            free: f.6,
        }))),
        any::<[u8; 32]>().prop_map(|nonce| Owned::Plain(Message::Challenge(nonce))),
        any::<([u8; 16], [u8; 32], [u8; 32])>().prop_map(|(key, nonce, proof)| Owned::Plain(Message::Prove(Prove { key, nonce, proof }))),
        (1..1_u64 << 50).prop_map(|pages| Owned::Plain(Message::RegionMap { pages })),
        (1..1_u64 << 50).prop_map(|pages| Owned::Plain(Message::RegionMapped { pages })),
        run().prop_map(|run| Owned::Plain(Message::Fetch(run))),
        (run(), any::<u64>()).prop_map(|(run, seed)| Owned::Data(run, seed)),
        (prop::collection::btree_set(0..1_u64 << 40, 1..4), any::<u64>())
            .prop_map(|(numbers, seed)| Owned::Write(numbers.into_iter().collect(), seed)),
        (1..=256_u32, any::<u32>()).prop_map(|(count, content_crc)| Owned::Plain(Message::WriteAck(WriteAck { count, content_crc }))),
        (0..1_u64 << 40, 1..1_u64 << 40).prop_map(|(first, count)| Owned::Plain(Message::Discard(Discard { first, count }))),
        (0..1_u64 << 40, 1..1_u64 << 40).prop_map(|(first, count)| Owned::Plain(Message::DiscardAck(Discard { first, count }))),
        any::<(u64, u64, bool)>().prop_map(|(capacity, free, stopping)| Owned::Plain(Message::HeartbeatAck(Heartbeat {
            capacity,
            free,
            stopping
        }))),
        (prop::sample::select(ErrorCode::ALL), ".{0,600}").prop_map(|(code, text)| Owned::Error(code, text)),
        prop::sample::select(vec![
            Message::Fence,
            Message::FenceAck,
            Message::Heartbeat,
            Message::Bye,
            Message::Leave,
            Message::RegionUnmap,
            Message::RegionUnmapped,
        ])
        .prop_map(Owned::Plain),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_encoded_is_decoded(message in message(), sequence: u64, region: u32, tail: Vec<u8>) {
        let frame = encode(&message, sequence, region);
        let mut bytes = frame.clone();
        bytes.extend_from_slice(&tail);
        let (header, decoded, end) = decode(&bytes).unwrap();
        prop_assert_eq!((header.sequence, header.region, end), (sequence, region, frame.len()));
        match &message {
            Owned::Plain(plain) => prop_assert_eq!(&decoded, plain),
            Owned::Data(run, seed) => {
                let bytes = page_bytes(run.count as usize, *seed);
                prop_assert_eq!(decoded, Message::Data(RunOfPages { run: *run, bytes: &bytes }));
            }
            Owned::Write(numbers, seed) => {
                let Message::Write(write) = decoded else { panic!("{decoded:?}") };
                prop_assert_eq!(write.count(), numbers.len());
                prop_assert_eq!(write.last(), *numbers.last().unwrap());
                let bytes = page_bytes(numbers.len(), *seed);
                let want: Vec<_> = numbers.iter().copied().zip(bytes.chunks(PAGE_SIZE)).collect();
                prop_assert_eq!(write.pages().collect::<Vec<_>>(), want);
            }
            Owned::Error(code, text) => {
                let Message::Error { code: got, text: cut } = decoded else { panic!("{decoded:?}") };
                prop_assert_eq!(got, *code);
                prop_assert!(text.starts_with(cut) && (cut.len() == text.len() || cut.len() > 508));
            }
        }
        // And it is encoded to the same bytes again: one message has one form.
        let mut again = Vec::new();
        decoded.encode(sequence, region, &mut again);
        prop_assert!(again == frame);
    }

    #[test]
    fn a_flipped_bit_is_refused(message in message(), sequence: u64, region: u32, at: prop::sample::Index) {
        let mut frame = encode(&message, sequence, region);
        let bit = at.index(frame.len() * 8);
        frame[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode(&frame).is_err());
    }

    #[test]
    fn checksums_of_two_pieces_join(first: Vec<u8>, second: Vec<u8>) {
        let [one, two] = [&first, &second].map(|piece| crc32c_of(&[piece]));
        prop_assert_eq!(crc32c_join(one, two, second.len()), crc32c_of(&[&first, &second]));
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
        prop_assert!(decode(&bytes).is_err());
    }

    /// A header that is sealed, so that the fields behind the checksums are reached.
    #[test]
    fn arbitrary_payloads_do_no_harm(number in 0..64_u8, bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let Some(op) = Op::from_number(number) else { return Ok(()) };
        let mut frame = seal(op, 1, 0, &[&bytes]).to_vec();
        frame.extend_from_slice(&bytes);
        if let Ok((_, message, _)) = decode(&frame) {
            let mut again = Vec::new();
            message.encode(1, 0, &mut again);
            prop_assert!(again == frame, "one message has two forms");
        }
    }
}

/// One frame of each operation, the long ones short.
fn one_of_each() -> Vec<Vec<u8>> {
    let run = Fetch { first: 7, count: 2 };
    let hello = Hello {
        version_min: 1,
        version_max: 1,
        page_size_log2: 12,
        kind: ChannelKind::Fetch,
        channel: 3,
        generation: 1,
        features: 0,
        client: [9; 16],
    };
    let ack = HelloAck { version: 1, page_size_log2: 12, max_pages: 256, features: 0, session: [8; 16], capacity: 1 << 30, free: 1 << 29 };
    let all = vec![
        Owned::Plain(Message::Hello(hello)),
        Owned::Plain(Message::HelloAck(ack)),
        Owned::Plain(Message::Challenge([5; 32])),
        Owned::Plain(Message::Prove(Prove { key: [1; 16], nonce: [2; 32], proof: [3; 32] })),
        Owned::Plain(Message::Proved(Proved { proof: [4; 32], ack })),
        Owned::Plain(Message::RegionMap { pages: 5 }),
        Owned::Plain(Message::RegionMapped { pages: 5 }),
        Owned::Plain(Message::Fetch(run)),
        Owned::Data(run, 1),
        Owned::Write(vec![1, 5], 2),
        Owned::Plain(Message::WriteAck(WriteAck { count: 2, content_crc: 3 })),
        Owned::Plain(Message::Fence),
        Owned::Plain(Message::FenceAck),
        Owned::Plain(Message::Discard(Discard { first: 1, count: 2 })),
        Owned::Plain(Message::DiscardAck(Discard { first: 1, count: 2 })),
        Owned::Plain(Message::Heartbeat),
        Owned::Plain(Message::HeartbeatAck(Heartbeat { capacity: 3, free: 2, stopping: true })),
        Owned::Error(ErrorCode::Full, "no".to_owned()),
        Owned::Plain(Message::Bye),
        Owned::Plain(Message::Leave),
        Owned::Plain(Message::RegionUnmap),
        Owned::Plain(Message::RegionUnmapped),
    ];
    let tracing = Op::ALL.iter().filter(|op| op.is_for_tracing()).map(|&op| {
        let payload: &'static [u8] = &[7; 24];
        Owned::Plain(Message::Trace { op, payload: &payload[..op.max_payload().min(24)] })
    });
    let all: Vec<Owned> = all.into_iter().chain(tracing).collect();
    assert_eq!(all.len(), Op::ALL.len());
    all.iter().map(|message| encode(message, 4, 2)).collect()
}

#[test]
fn every_truncation_is_refused() {
    for frame in one_of_each() {
        for end in 0..frame.len() {
            assert!(decode(&frame[..end]).is_err(), "{:?} cut to {end} bytes", decode(&frame).unwrap().0.op);
        }
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    for mut frame in one_of_each() {
        let op = decode(&frame).unwrap().0.op;
        for bit in 0..frame.len() * 8 {
            frame[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&frame).is_err(), "{op:?} with bit {bit} flipped");
            frame[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn a_length_is_refused_by_the_header_alone() {
    for &op in Op::ALL {
        assert!(op.max_payload() <= MAX_PAYLOAD);
        // The payload is not there: a reader that looked for it, or made room for it, would have to wait.
        let too_long = vec![0; op.max_payload() + 1];
        let head = seal(op, 1, 0, &[&too_long]);
        assert_eq!(Header::decode(&head), Err(DecodeError::TooLong { op: op.name(), len: too_long.len() as u32, max: op.max_payload() }));
    }
}

#[test]
fn reserved_and_unknown_operations_are_refused() {
    let known: Vec<u8> = Op::ALL.iter().map(|&op| op as u8).collect();
    for number in 0..=255_u8 {
        let mut head = seal(Op::Bye, 1, 0, &[]);
        head[6] = number;
        let crc = crc32c_of(&[&head[..28]]);
        head[28..].copy_from_slice(&crc.to_le_bytes());
        match Header::decode(&head) {
            Ok(header) => assert!(known.contains(&number) && header.op as u8 == number),
            Err(error) => {
                assert!(!known.contains(&number));
                assert_eq!(error, DecodeError::UnknownOperation(number));
            }
        }
    }
    for (number, _) in RESERVED_OPS {
        assert!(!known.contains(number));
    }
}

#[test]
fn another_version_is_named() {
    let mut head = seal(Op::Heartbeat, 1, 0, &[]);
    head[4] = 2;
    let crc = crc32c_of(&[&head[..28]]);
    head[28..].copy_from_slice(&crc.to_le_bytes());
    let error = Header::decode(&head).unwrap_err();
    assert_eq!(error, DecodeError::Version { got: 2, want: 1 });
    assert_eq!(error.to_string(), "a frame is of version 2; this connection speaks 1");
    // Nor is one that has no proof taken where frames are proven.
    let plain = seal(Op::Heartbeat, 1, 0, &[]);
    let error = Header::decode_of(&plain, VERSION_ENCRYPTED).unwrap_err();
    assert_eq!(error.to_string(), "a frame is of version 1; this connection speaks 3");
    let encrypted = Header { version: VERSION_ENCRYPTED, payload_crc: 0, ..Header::decode(&plain).unwrap() };
    assert_eq!(Header::decode_of(&encrypted.bytes(), VERSION_ENCRYPTED), Ok(encrypted));
    let error = Header::decode_of(&Header { payload_crc: 7, ..encrypted }.bytes(), VERSION_ENCRYPTED).unwrap_err();
    assert_eq!(error.to_string(), "HEARTBEAT: the field payload checksum must not be 7");
}

#[test]
fn runs_that_would_wrap_are_refused() {
    for first in [u64::MAX, u64::MAX / 4096, u64::MAX - 1] {
        for message in [Message::Fetch(Fetch { first, count: 1 }), Message::Discard(Discard { first, count: 2 })] {
            let mut frame = Vec::new();
            message.encode(1, 1, &mut frame);
            assert_eq!(decode(&frame).unwrap_err().code(), ErrorCode::BadRequest);
        }
    }
}

#[test]
fn page_numbers_of_a_write_ascend() {
    for numbers in [[5, 5], [6, 5]] {
        let mut frame = Vec::new();
        encode_write(1, 1, &numbers, &page_bytes(2, 1), &mut frame);
        assert_eq!(decode(&frame).unwrap_err().code(), ErrorCode::BadRequest);
    }
}
