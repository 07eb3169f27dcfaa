// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// Node's own client of HTTP/2, as Clients.java uses its clients: node node.mjs PORT BUSY SECONDS

import http2 from 'node:http2';

const [port, wanted, seconds] = process.argv.slice(2).map(Number);
const session = http2.connect(`http://127.0.0.1:${port}`);
session.on('error', () => {});

function send(target, length) {
  return new Promise((resolve) => {
    const request = session.request({ ':path': target, ':method': length === 0 ? 'GET' : 'POST' }, { endStream: length === 0 });
    let status = 0;
    request.setTimeout(120_000, () => resolve('timeout'));
    request.on('response', (headers) => { status = headers[':status']; });
    request.on('data', () => {});
    request.on('error', (error) => resolve(`${error.code} ${error.message}`));
    request.on('end', () => resolve(status === 200 ? 'ok' : status === 503 ? 'busy' : `status ${status}`));
    if (length > 0) {
      request.end(Buffer.alloc(length));
    }
  });
}

const end = Date.now() + seconds * 1000;
for (const body of [0, 5, 30_000, 1_000_000, 8_000_000]) {
  let busy = 0;
  for (let n = 0; busy < wanted && Date.now() < end; n++) {
    const target = `/node/${body}/${n}`;
    const how = await send(target, body);
    busy += how === 'ok' ? 0 : 1;
    console.log(`${target} ${how}`);
  }
}
process.exit(0);
