// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A peer that says exactly what a test wants, right or wrong.
#![allow(dead_code)] // each test file uses a part

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use lull_far_auth::{Frames, Key, Share, proof};
use lull_far_protocol::{
    ChannelKind, ErrorCode, Fetch, HEADER_LEN, Header, Hello, Message, PAGE_SIZE, PAGE_SIZE_LOG2, TAG_LEN, VERSION_ENCRYPTED,
    VERSION_PLAIN, encode_write,
};
use lull_memd::{Config, Server};

pub const MB: u64 = 1 << 20;

/// A server in this process.
pub fn server(change: impl FnOnce(&mut Config)) -> Server {
    let mut config = Config::new("127.0.0.1:0".parse().unwrap(), 8 * MB);
    config.peers = vec!["127.0.0.0/8".parse().unwrap()];
    change(&mut config);
    Server::start(config).unwrap()
}

/// A connection from an address of this machine.
pub fn connect_from(address: [u8; 4], to: SocketAddr) -> TcpStream {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddr::from((address, 0))).unwrap();
    connect(&socket, &to).unwrap();
    socket.into()
}

pub fn page(seed: u64) -> Vec<u8> {
    (0..PAGE_SIZE as u64).map(|i| (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left((i % 61) as u32) >> 7) as u8).collect()
}

/// What came back.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// A whole frame.
    Frame(Header, Vec<u8>),
    /// The connection was closed or reset, between frames.
    Closed,
}

pub struct Peer {
    pub stream: TcpStream,
    pub sequence: u64,
    /// What encrypts and proves, if anything does.
    pub frames: Option<Frames>,
}

impl Peer {
    /// A connection without a HELLO.
    pub fn raw(address: SocketAddr) -> Peer {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Peer::over(stream)
    }

    /// The same to a Unix socket.
    pub fn at(path: &Path) -> std::io::Result<Peer> {
        UnixStream::connect(path).map(|stream| Peer::over(OwnedFd::from(stream).into()))
    }

    fn over(stream: TcpStream) -> Peer {
        // A test that would hang fails.
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Peer { stream, sequence: 0, frames: None }
    }

    /// A connection with a HELLO that was accepted.
    pub fn hello(address: SocketAddr, client: u8, kind: ChannelKind, generation: u64) -> Peer {
        let (peer, answer) = Peer::try_hello(address, hello(client, kind, generation));
        let Answer::Frame(header, payload) = answer else { panic!("{answer:?}") };
        assert!(matches!(Message::decode(&header, &payload), Ok(Message::HelloAck(_))), "{header:?}");
        peer
    }

    pub fn try_hello(address: SocketAddr, hello: Hello) -> (Peer, Answer) {
        Peer::raw(address).say_hello(hello)
    }

    /// A HELLO, and what came back.
    pub fn say_hello(mut self, hello: Hello) -> (Peer, Answer) {
        let answer = self.ask(&Message::Hello(hello), 0);
        (self, answer)
    }

    /// A connection on which a HELLO was said, and the key proved as far as the server lets it.
    pub fn try_key(address: SocketAddr, key: &Key, hello: Hello) -> (Peer, Answer) {
        Peer::try_key_of(address, key, hello.with_key(VERSION_ENCRYPTED))
    }

    /// The same with what the HELLO says of versions.
    pub fn try_key_of(address: SocketAddr, key: &Key, hello: Hello) -> (Peer, Answer) {
        let (mut peer, answer) = Peer::try_hello(address, hello);
        let Answer::Frame(header, payload) = &answer else { panic!("closed") };
        let Ok(Message::Challenge(challenge)) = Message::decode(header, payload) else { return (peer, answer) };
        let share = Share::of(std::array::from_fn(|i| (i as u8).wrapping_mul((hello.generation as u8).wrapping_add(3))));
        let client = proof::Client::new(key, &hello, challenge, share);
        let answer = peer.ask(&Message::Prove(client.prove()), 0);
        if let Answer::Frame(header, payload) = &answer
            && let Ok(Message::Proved(proved)) = Message::decode(header, payload)
        {
            assert!(client.is_proved(&proved), "the server has another key");
            peer.frames = (proved.ack.version == VERSION_ENCRYPTED).then(|| client.frames(&proved));
        }
        (peer, answer)
    }

    /// The same, accepted.
    pub fn with_key(address: SocketAddr, key: &Key, hello: Hello) -> Peer {
        let (peer, answer) = Peer::try_key(address, key, hello);
        assert!(answer.message().starts_with("Proved("), "{}", answer.message());
        peer
    }

    /// A client with a region of so many pages: control, fetch, write.
    pub fn client(address: SocketAddr, client: u8, region: u32, pages: u64) -> [Peer; 3] {
        let mut all = [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write].map(|kind| Peer::hello(address, client, kind, 1));
        all[0].map(region, pages);
        all
    }

    /// Asks for a region until its memory is there, and what others have given back is zero.
    pub fn map(&mut self, region: u32, pages: u64) {
        loop {
            let answer = self.ask(&Message::RegionMap { pages }, region);
            if answer.message() == format!("{:?}", Message::RegionMapped { pages }) {
                return;
            }
            answer.error(ErrorCode::NotYet);
        }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub fn frame(&mut self, message: &Message<'_>, region: u32) -> Vec<u8> {
        self.sequence += 1;
        let mut frame = Vec::new();
        message.encode(self.sequence, region, &mut frame);
        self.encrypt(&mut frame);
        frame
    }

    fn encrypt(&mut self, frame: &mut Vec<u8>) {
        if let Some(frames) = &mut self.frames {
            frames.encrypt_frame(frame).unwrap();
        }
    }

    pub fn ask(&mut self, message: &Message<'_>, region: u32) -> Answer {
        let frame = self.frame(message, region);
        self.send(&frame);
        self.answer()
    }

    pub fn write_frame(&mut self, region: u32, numbers: &[u64], bytes: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let mut frame = Vec::new();
        encode_write(self.sequence, region, numbers, bytes, &mut frame);
        self.encrypt(&mut frame);
        frame
    }

    pub fn write(&mut self, region: u32, numbers: &[u64], bytes: &[u8]) -> Answer {
        let frame = self.write_frame(region, numbers, bytes);
        self.send(&frame);
        self.answer()
    }

    /// The pages of a run, which must be there.
    pub fn fetch(&mut self, region: u32, first: u64, count: u32) -> Vec<u8> {
        let run = Fetch { first, count };
        let Answer::Frame(header, payload) = self.ask(&Message::Fetch(run), region) else { panic!("closed") };
        match Message::decode(&header, &payload) {
            Ok(Message::Data(data)) => {
                assert_eq!((data.run, header.sequence, header.region), (run, self.sequence, region));
                data.bytes.to_vec()
            }
            other => panic!("{other:?}"),
        }
    }

    pub fn answer(&mut self) -> Answer {
        let mut head = [0; HEADER_LEN];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(e) if matches!(e.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => return Answer::Closed,
            Err(e) => panic!("{e}"),
        }
        let (version, tag) = if self.frames.is_some() { (VERSION_ENCRYPTED, TAG_LEN) } else { (VERSION_PLAIN, 0) };
        let mut header = Header::decode_of(&head, version).unwrap();
        let mut payload = vec![0; header.len as usize + tag];
        self.stream.read_exact(&mut payload).unwrap();
        if let Some(frames) = &mut self.frames {
            let length = frames.decrypt(&header, &mut payload).unwrap();
            payload.truncate(length);
            header = header.as_plain(&payload);
        }
        header.check(&payload).unwrap();
        Answer::Frame(header, payload)
    }

    /// Expects an error, and then the end of the connection.
    pub fn refused(&mut self, code: ErrorCode) -> String {
        let text = self.answer().error(code);
        assert_eq!(self.answer(), Answer::Closed, "after {text}");
        text
    }
}

impl Answer {
    /// The text of an error, which this must be.
    pub fn error(&self, code: ErrorCode) -> String {
        self.error_among(&[code])
    }

    /// The same of one of several.
    pub fn error_among(&self, codes: &[ErrorCode]) -> String {
        match self {
            Answer::Frame(header, payload) => match Message::decode(header, payload) {
                Ok(Message::Error { code, text }) => {
                    assert!(codes.contains(&code), "{} is not among {codes:?}: {text}", code.name());
                    text.to_owned()
                }
                other => panic!("{other:?}"),
            },
            Answer::Closed => panic!("closed instead of {codes:?}"),
        }
    }

    /// How the message looks in a failed comparison.
    pub fn message(&self) -> String {
        match self {
            Answer::Frame(header, payload) => format!("{:?}", Message::decode(header, payload).unwrap()),
            Answer::Closed => "closed".to_owned(),
        }
    }
}

pub fn hello(client: u8, kind: ChannelKind, generation: u64) -> Hello {
    Hello {
        version_min: 1,
        version_max: 1,
        page_size_log2: PAGE_SIZE_LOG2,
        kind,
        channel: 0,
        generation,
        features: 0,
        client: [client; 16],
    }
}

/// What an HTTP server answers.
pub fn get(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    text
}

/// A value of the metrics page.
pub fn metric(address: SocketAddr, name: &str) -> u64 {
    let page = get(address, "GET /metrics HTTP/1.0\r\n\r\n");
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is not in\n{page}")).parse().unwrap()
}
