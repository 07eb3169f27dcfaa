// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The handshake, as values: the client's and the server's side, without a socket.
//!
//! ```text
//! client                                        server
//!   HELLO, with FEATURE_KEY        ---->
//!                                  <----        CHALLENGE: the server's nonce
//!   PROVE: key's number, the       ---->
//!   client's nonce, its proof
//!                                  <----        PROVED: the server's proof, what a HELLO_ACK says
//! ```
//!
//! Each proof is an HMAC under a key of its own, which is derived from the shared one and both nonces: it is worth nothing on another
//! connection, nor in the other direction. The client's covers all that was said before it, so the generation of a HELLO that somebody has
//! changed never counts; the server's covers the client's proof and the whole answer. Comparisons take as long whatever differs.

use hmac::Mac;
use lull_far_protocol::{CHALLENGE_LEN, HELLO_LEN, Hello, HelloAck, Prove, Proved};

use crate::frames::{Ends, Frames};
use crate::key::{Key, mac};

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
        mac(&key.of_connection(nonce, &self.challenge, OF_CLIENT), &[&self.hello, &self.challenge, id, nonce])
    }

    fn server_proof(&self, key: &Key, prove: &Prove, ack: &HelloAck) -> hmac::Hmac<sha2::Sha256> {
        let parts: [&[u8]; 6] = [&self.hello, &self.challenge, &prove.key, &prove.nonce, &prove.proof, &ack.payload()];
        mac(&key.of_connection(&prove.nonce, &self.challenge, OF_SERVER), &parts)
    }
}

/// The client's side, after it has got the CHALLENGE.
#[derive(Debug)]
pub struct Client<'a> {
    key: &'a Key,
    said: Said,
    prove: Prove,
}

impl<'a> Client<'a> {
    /// `nonce` has been drawn for this connection.
    #[must_use]
    pub fn new(key: &'a Key, hello: &Hello, challenge: [u8; CHALLENGE_LEN], nonce: [u8; 32]) -> Client<'a> {
        let said = Said { hello: hello.payload(), challenge };
        let id = key.id();
        let proof = said.client_proof(key, &id, &nonce).finalize().into_bytes().into();
        Client { key, said, prove: Prove { key: id, nonce, proof } }
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
    /// What encrypts and proves the frames behind the handshake, which [`Client::is_proved`] has found right.
    #[must_use]
    pub fn frames(&self, proved: &Proved) -> Frames {
        Ends::new(self.key, &self.prove.nonce, &self.said.challenge, &proved.proof).of_client()
    }
}

/// The server's side, after it has got the HELLO. Has a fixed size: nothing is allocated for who is not known.
#[derive(Debug)]
pub struct Server(Said);

impl Server {
    /// `nonce` has been drawn for this connection; it is the CHALLENGE.
    #[must_use]
    pub fn new(hello: &Hello, nonce: [u8; CHALLENGE_LEN]) -> Server {
        Server(Said { hello: hello.payload(), challenge: nonce })
    }

    /// Whether the client has the key.
    #[must_use]
    pub fn is_proved(&self, key: &Key, prove: &Prove) -> bool {
        self.0.client_proof(key, &prove.key, &prove.nonce).verify_slice(&prove.proof).is_ok()
    }

    /// What to answer.
    #[must_use]
    pub fn prove(&self, key: &Key, prove: &Prove, ack: HelloAck) -> Proved {
        Proved { proof: self.0.server_proof(key, prove, &ack).finalize().into_bytes().into(), ack }
    }

    /// What encrypts and proves the frames behind the handshake.
    #[must_use]
    pub fn frames(&self, key: &Key, prove: &Prove, proved: &Proved) -> Frames {
        Ends::new(key, &prove.nonce, &self.0.challenge, &proved.proof).of_server()
    }
}
