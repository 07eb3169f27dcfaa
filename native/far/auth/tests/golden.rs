// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The handshake against golden frames, which another program has made of the protocol's document; and against each bit that could be
//! changed on the way.

use lull_far_auth::{Frames, Key, Share, proof};
use lull_far_protocol::golden::{ENCRYPTED, frame, page};
use lull_far_protocol::{Fetch, HEADER_LEN, Header, Heartbeat, Hello, Message, Prove, Proved, RunOfPages, VERSION_ENCRYPTED};

fn key() -> Key {
    Key::new(std::array::from_fn(|i| 100 + i as u8))
}

/// What both sides have drawn.
fn shares() -> (Share, Share) {
    (Share::of(std::array::from_fn(|i| 32 + i as u8)), Share::of(std::array::from_fn(|i| 64 + i as u8)))
}

fn client_of<'a>(key: &'a Key, hello: &Hello, challenge: [u8; 32]) -> proof::Client<'a> {
    proof::Client::new(key, hello, challenge, shares().0)
}

fn server_of(hello: &Hello) -> proof::Server {
    proof::Server::new(hello, shares().1)
}

fn message(bytes: &[u8]) -> Message<'_> {
    let header = Header::decode(bytes.first_chunk::<HEADER_LEN>().unwrap()).unwrap();
    Message::decode(&header, &bytes[HEADER_LEN..]).unwrap()
}

fn golden() -> (Hello, [u8; 32], Prove, Proved) {
    let frames = ["hello-key", "challenge", "prove", "proved"].map(frame);
    let (Message::Hello(hello), Message::Challenge(challenge)) = (message(&frames[0]), message(&frames[1])) else { panic!() };
    let (Message::Prove(prove), Message::Proved(proved)) = (message(&frames[2]), message(&frames[3])) else { panic!() };
    (hello, challenge, prove, proved)
}

#[test]
fn both_sides_say_what_the_document_says() {
    let (hello, challenge, prove, proved) = golden();
    let key = key();
    let (client, server) = (client_of(&key, &hello, challenge), server_of(&hello));
    assert_eq!((client.prove(), server.challenge()), (prove, challenge));
    assert!(server.is_proved(&key, &prove));
    assert_eq!(server.prove(&key, &prove, proved.ack), proved);
    assert!(client.is_proved(&proved));
}

/// What a side sends is, byte by byte, what another program has made of the document; and what it takes.
#[test]
fn frames_are_encrypted_as_the_document_says() {
    let (hello, challenge, prove, proved) = golden();
    let key = key();
    let mut client = client_of(&key, &hello, challenge).frames(&proved);
    let mut server = server_of(&hello).frames(&key, &prove, &proved);
    let (run, bytes) = (Fetch { first: 3, count: 2 }, [page(3), page(4)].concat());
    let state = Heartbeat { capacity: 1 << 30, free: 1 << 29, stopping: false };
    let said = [
        (Message::Fetch(run), 3, 5),
        (Message::Heartbeat, 4, 0),
        (Message::Data(RunOfPages { run, bytes: &bytes }), 3, 5),
        (Message::HeartbeatAck(state), 4, 0),
    ];
    for (at, (name, (message, sequence, region))) in ENCRYPTED.iter().zip(&said).enumerate() {
        let (from, to): (&mut Frames, &mut Frames) = if at < 2 { (&mut client, &mut server) } else { (&mut server, &mut client) };
        let mut sent = Vec::new();
        message.encode(*sequence, *region, &mut sent);
        from.encrypt_frame(&mut sent).unwrap();
        assert!(sent == frame(name), "{name} is encrypted differently");
        let header = Header::decode_of(sent.first_chunk::<HEADER_LEN>().unwrap(), VERSION_ENCRYPTED).unwrap();
        let length = to.decrypt(&header, &mut sent[HEADER_LEN..]).unwrap();
        assert_eq!(Message::decode_proven(&header, &sent[HEADER_LEN..][..length]), Ok(*message), "{name}");
    }
}

#[test]
fn another_key_proves_nothing() {
    let (hello, challenge, prove, proved) = golden();
    let other = Key::new([1; 32]);
    assert!(!server_of(&hello).is_proved(&other, &prove));
    let theirs = server_of(&hello).prove(&other, &prove, proved.ack);
    assert!(!client_of(&key(), &hello, challenge).is_proved(&theirs));
    assert_ne!(other.id(), key().id());
}

/// Whoever is between must not change who is there, which generation it is, or what the server has answered.
#[test]
fn no_bit_of_what_was_said_can_be_changed() {
    let (hello, challenge, prove, _) = golden();
    let key = key();
    let flipped = |name: &str, bit: usize| {
        let mut bytes = frame(name);
        bytes[HEADER_LEN + bit / 8] ^= 1 << (bit % 8);
        let crc = lull_far_protocol::crc32c_of(&[&bytes[HEADER_LEN..]]);
        bytes[24..28].copy_from_slice(&crc.to_le_bytes());
        let crc = lull_far_protocol::crc32c_of(&[&bytes[..28]]);
        bytes[28..32].copy_from_slice(&crc.to_le_bytes());
        bytes
    };
    let decoded = |bytes: &[u8]| {
        let header = Header::decode(bytes.first_chunk::<HEADER_LEN>().unwrap()).unwrap();
        Message::decode(&header, &bytes[HEADER_LEN..]).is_ok()
    };
    let mut seen = 0;
    for (name, bits) in [("hello-key", 320), ("challenge", 256), ("prove", 640), ("proved", 640)] {
        for bit in 0..bits {
            let bytes = flipped(name, bit);
            if !decoded(&bytes) {
                continue;
            }
            seen += 1;
            let accepted = match message(&bytes) {
                Message::Hello(other) => server_of(&other).is_proved(&key, &prove),
                Message::Challenge(other) => server_of(&hello).is_proved(&key, &client_of(&key, &hello, other).prove()),
                Message::Prove(other) => server_of(&hello).is_proved(&key, &other),
                Message::Proved(other) => client_of(&key, &hello, challenge).is_proved(&other),
                other => panic!("{other:?}"),
            };
            assert!(!accepted, "bit {bit} of {name} was changed, and nobody noticed");
        }
    }
    assert!(seen > 1800, "{seen}");
}

/// A proof of one side, sent back to it, is none of the other.
#[test]
fn a_proof_cannot_be_sent_back() {
    let (hello, challenge, prove, proved) = golden();
    let key = key();
    assert!(!client_of(&key, &hello, challenge).is_proved(&Proved { proof: prove.proof, ..proved }));
    assert!(!server_of(&hello).is_proved(&key, &Prove { proof: proved.proof, ..prove }));
}

/// Who is between says to each side what he has drawn himself, and passes the proofs on: neither believes the other to have said it.
#[test]
fn who_is_between_cannot_put_in_what_he_has_drawn() {
    let (hello, challenge, prove, proved) = golden();
    let (key, his) = (key(), Share::of([99; 32]).said());
    // To the client, in place of the server's: its proof is of that, and the server's own is of another.
    let misled = client_of(&key, &hello, his).prove();
    assert!(!server_of(&hello).is_proved(&key, &misled));
    // To the server, in place of the client's, with the client's right proof.
    assert!(!server_of(&hello).is_proved(&key, &Prove { nonce: his, ..prove }));
    // And a client that was misled takes no answer that is meant for another one.
    assert!(!client_of(&key, &hello, his).is_proved(&proved) && client_of(&key, &hello, challenge).is_proved(&proved));
}
