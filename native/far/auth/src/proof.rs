// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The handshake, as values: the client's and the server's side, without a socket.
//!
//! ```text
//! client                                        server
//!   HELLO, with FEATURE_KEY        ---->
//!                                  <----        CHALLENGE: the server's share
//!   PROVE: key's number, the       ---->
//!   client's share, its proof
//!                                  <----        PROVED: the server's proof, what a HELLO_ACK says
//! ```
//!
//! Each side draws a share for the connection, whose public part is its nonce, too ([`Share`]). What both make of the two is in the keys of the
//! frames behind the handshake: so who has recorded all, and gets the shared key later, has not those.
//!
//! Each proof is an HMAC under a key of its own, which is derived from the shared one and both nonces: it is worth nothing on another
//! connection, nor in the other direction. The client's covers all that was said before it, so the generation of a HELLO that somebody has
//! changed never counts; the server's covers the client's proof and the whole answer. So both shares are proven, and nobody between can put in
//! his own. Comparisons take as long whatever differs.

use hmac::Mac;
use lull_far_protocol::{CHALLENGE_LEN, HELLO_LEN, Hello, HelloAck, Prove, Proved};

use crate::frames::{Ends, Frames};
use crate::key::{Key, Nonces, mac};
use crate::share::Share;

const OF_CLIENT: &[u8] = b"lull-far 1 client";
const OF_SERVER: &[u8] = b"lull-far 1 server";

/// What both sides have said until the client's proof.
#[derive(Debug)]
struct Said {
    hello: [u8; HELLO_LEN],
    challenge: [u8; CHALLENGE_LEN],
}

impl Said {
    fn client_proof(&self, key: &Key, id: &[u8; 16], nonce: &[u8; 32]) -> hmac::Hmac<sha2::Sha256> {
        mac(&key.of_connection(&self.nonces(nonce), OF_CLIENT), &[&self.hello, &self.challenge, id, nonce])
    }

    fn server_proof(&self, key: &Key, prove: &Prove, ack: &HelloAck) -> hmac::Hmac<sha2::Sha256> {
        let parts: [&[u8]; 6] = [&self.hello, &self.challenge, &prove.key, &prove.nonce, &prove.proof, &ack.payload()];
        mac(&key.of_connection(&self.nonces(&prove.nonce), OF_SERVER), &parts)
    }

    fn nonces(&self, client: &[u8; 32]) -> Nonces {
        Nonces { client: *client, server: self.challenge }
    }

    fn ends(&self, key: &Key, prove: &Prove, agreed: &[u8; 32], proved: &Proved) -> Ends {
        Ends::new(key, &self.nonces(&prove.nonce), agreed, &proved.proof)
    }
}

/// The client's side, after it has got the CHALLENGE.
#[derive(Debug)]
pub struct Client<'a> {
    key: &'a Key,
    said: Said,
    prove: Prove,
    share: Share,
}

impl<'a> Client<'a> {
    /// `share` has been drawn for this connection.
    #[must_use]
    pub fn new(key: &'a Key, hello: &Hello, challenge: [u8; CHALLENGE_LEN], share: Share) -> Client<'a> {
        let said = Said { hello: hello.payload(), challenge };
        let (id, nonce) = (key.id(), share.said());
        let proof = said.client_proof(key, &id, &nonce).finalize().into_bytes().into();
        Client { key, said, prove: Prove { key: id, nonce, proof }, share }
    }

    /// What to send.
    #[must_use]
    pub fn prove(&self) -> Prove {
        self.prove
    }

    /// Whether the server has the key, and has said what it was given here to have said.
    #[must_use]
    pub fn is_proved(&self, proved: &Proved) -> bool {
        self.said.server_proof(self.key, &self.prove, &proved.ack).verify_slice(&proved.proof).is_ok()
    }
}

impl Client<'_> {
    /// What encrypts and proves the frames behind the handshake, which [`Client::is_proved`] has found right. What was drawn is forgotten.
    #[must_use]
    pub fn frames(self, proved: &Proved) -> Frames {
        let agreed = self.share.agree(&self.said.challenge);
        self.said.ends(self.key, &self.prove, agreed.as_bytes(), proved).of_client()
    }
}

/// The server's side, after it has got the HELLO. Has a fixed size: nothing is allocated for who is not known.
#[derive(Debug)]
pub struct Server {
    said: Said,
    share: Share,
}

impl Server {
    /// `share` has been drawn for this connection.
    #[must_use]
    pub fn new(hello: &Hello, share: Share) -> Server {
        Server { said: Said { hello: hello.payload(), challenge: share.said() }, share }
    }

    /// What to send.
    #[must_use]
    pub fn challenge(&self) -> [u8; CHALLENGE_LEN] {
        self.said.challenge
    }

    /// Whether the client has the key.
    #[must_use]
    pub fn is_proved(&self, key: &Key, prove: &Prove) -> bool {
        self.said.client_proof(key, &prove.key, &prove.nonce).verify_slice(&prove.proof).is_ok()
    }

    /// What to answer.
    #[must_use]
    pub fn prove(&self, key: &Key, prove: &Prove, ack: HelloAck) -> Proved {
        Proved { proof: self.said.server_proof(key, prove, &ack).finalize().into_bytes().into(), ack }
    }

    /// What encrypts and proves the frames behind the handshake. What was drawn is forgotten.
    #[must_use]
    pub fn frames(self, key: &Key, prove: &Prove, proved: &Proved) -> Frames {
        let agreed = self.share.agree(&prove.nonce);
        self.said.ends(key, prove, agreed.as_bytes(), proved).of_server()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lull_far_protocol::golden::{ENCRYPTED, frame};
    use lull_far_protocol::{HEADER_LEN, Header, Message, VERSION_ENCRYPTED};

    fn message(bytes: &[u8]) -> Message<'_> {
        let header = Header::decode(bytes.first_chunk::<HEADER_LEN>().unwrap()).unwrap();
        Message::decode(&header, &bytes[HEADER_LEN..]).unwrap()
    }

    /// Which of the recorded frames can be read by who has recorded the handshake, and has the key, and takes `agreed` for what both sides have
    /// agreed upon.
    fn read_by(agreed: &[u8; 32]) -> Vec<bool> {
        let recorded = ["hello-key", "challenge", "prove", "proved"].map(frame);
        let (Message::Hello(hello), Message::Challenge(challenge)) = (message(&recorded[0]), message(&recorded[1])) else { panic!() };
        let (Message::Prove(prove), Message::Proved(proved)) = (message(&recorded[2]), message(&recorded[3])) else { panic!() };
        let said = Said { hello: hello.payload(), challenge };
        let key = Key::new(std::array::from_fn(|i| 100 + i as u8));
        let ends = || said.ends(&key, &prove, agreed, &proved);
        let (mut up, mut down) = (ends().of_server(), ends().of_client());
        let decrypts = |(number, name): (usize, &&str)| {
            let mut bytes = frame(name);
            let header = Header::decode_of(bytes.first_chunk().unwrap(), VERSION_ENCRYPTED).unwrap();
            let by = if number < 2 { &mut up } else { &mut down };
            by.decrypt(&header, &mut bytes[HEADER_LEN..]).is_ok()
        };
        ENCRYPTED.iter().enumerate().map(decrypts).collect()
    }

    /// All that passed, and the shared key: without what one of both has drawn, that is nothing.
    #[test]
    fn who_has_recorded_all_and_gets_the_key_later_reads_nothing() {
        let (client, server): ([u8; 32], [u8; 32]) = (std::array::from_fn(|i| 32 + i as u8), std::array::from_fn(|i| 64 + i as u8));
        let said = |drawn| Share::of(drawn).said();
        let right = Share::of(client).agree(&said(server));
        assert_eq!(read_by(right.as_bytes()), [true; 4]);
        assert_eq!(read_by(Share::of(server).agree(&said(client)).as_bytes()), [true; 4]);
        // What can be made of what was said, of the key, and of what he draws himself.
        let mut made = vec![[0; 32], said(client), said(server), std::array::from_fn(|i| 100 + i as u8)];
        made.extend(
            [said(client), said(server)].iter().flat_map(|half| (0..50).map(|drawn| *Share::of([drawn; 32]).agree(half).as_bytes())),
        );
        assert!(made.iter().all(|agreed| read_by(agreed) == [false; 4]));
    }
}
