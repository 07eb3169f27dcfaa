// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// Node's own client of HTTP/2, as Moments.java uses its clients: node moments.mjs PORT - - BUSY SECONDS MOMENT FILE

import fs from 'node:fs';
import http2 from 'node:http2';

const [port, , , wanted, seconds, moment, file] = process.argv.slice(2);
const session = http2.connect(`http://127.0.0.1:${port}`);
session.on('error', () => {});
const sleep = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });
const size = () => fs.statSync(file).size;

async function write(request, length, state) {
  const now = { head: 0, middle: Math.floor(length / 2), end: length }[moment];
  const before = state.before;
  if (now > 0) {
    request.write(Buffer.alloc(now));
  }
  const end = Date.now() + 3000;
  while (now < length && size() === before && !state.late) {
    state.late = Date.now() > end;
    await sleep(2);
  }
  // It may be over, which is no error here.
  if (!request.destroyed && !request.writableEnded) {
    request.end(now < length ? Buffer.alloc(length - now) : undefined);
  }
}

function send(target, length, state) {
  return new Promise((resolve) => {
    const request = session.request({ ':path': target, ':method': length === 0 ? 'GET' : 'POST' }, { endStream: length === 0 });
    let status = 0;
    request.setTimeout(120_000, () => resolve('timeout'));
    request.on('response', (headers) => { status = headers[':status']; });
    request.on('data', () => {});
    request.on('error', (error) => resolve(`${error.code} ${error.message}`));
    request.on('end', () => resolve(status === 200 ? 'ok' : status === 503 ? 'busy' : `status ${status}`));
    if (length > 0) {
      write(request, length, state);
    }
  });
}

for (const length of [0, 5, 30_000, 1_000_000]) {
  if (length === 0 && moment !== 'end') {
    continue;
  }
  const end = Date.now() + seconds * 1000;
  let busy = 0;
  for (let n = 0; busy < wanted && Date.now() < end; n++) {
    const target = `/node/${moment}/${length}/${n}`;
    const state = { before: size(), late: false };
    const how = await send(target, length, state);
    busy += how === 'ok' ? 0 : 1;
    console.log(`${target} ${state.late ? 'late' : '-'} ${how}`);
  }
}
process.exit(0);
