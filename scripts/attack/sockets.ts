import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { eachOf, type Battery } from './battery.ts';
import type { Target } from './target.ts';

const TEXT = 0x1;
const BINARY = 0x2;
const CONTINUATION = 0x0;
const CLOSE = 0x8;
const PING = 0x9;
const SILENCE_MS = 1500;
const ATTEMPTS = 20;
const PAUSE_MS = 500;

/** Encodes one WebSocket frame, optionally invalid. */
function frame(
  opcode: number,
  payload: Buffer | string,
  { isFinal = true, isMasked = true, reserved = 0, length = Buffer.byteLength(payload) } = {},
): Buffer {
  const data = Buffer.from(payload);
  const size =
    length < 126
      ? Buffer.from([length])
      : length < 65_536
        ? Buffer.from([126, length >> 8, length & 255])
        : Buffer.from([127, 0, 0, 0, 0, ...int32(length)]);
  size[0] = (size[0] ?? 0) | (isMasked ? 0x80 : 0);
  const mask = isMasked ? randomBytes(4) : Buffer.alloc(0);
  const masked = isMasked ? data.map((byte, index) => byte ^ (mask[index % 4] ?? 0)) : data;
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | (reserved << 4) | opcode]), size, mask, masked]);
}

function int32(value: number): number[] {
  return [(value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
}

const HELLO = JSON.stringify({ type: 'hello', client_id: 'phone' });

const STREAMS: Readonly<Record<string, Buffer>> = {
  'random bytes': randomBytes(5000),
  zeros: Buffer.alloc(5000),
  'a second HTTP request': Buffer.from('GET /v1/tools HTTP/1.1\r\nHost: x\r\n\r\n'),
  'an unmasked frame': frame(TEXT, HELLO, { isMasked: false }),
  'reserved bits': frame(TEXT, HELLO, { reserved: 7 }),
  'a compressed frame that was not negotiated': frame(TEXT, HELLO, { reserved: 4 }),
  'an opcode that is not known': frame(0x5, HELLO),
  'a control opcode that is not known': frame(0xf, ''),
  'a ping of 200 bytes': frame(PING, 'x'.repeat(200)),
  'a ping in pieces': frame(PING, 'x', { isFinal: false }),
  'a close with one byte': frame(CLOSE, 'x'),
  'a close with a code that is not allowed': frame(CLOSE, Buffer.from([0x03, 0xed])),
  'a close whose reason is no UTF-8': frame(CLOSE, Buffer.from([0x03, 0xe8, 0xff, 0xfe])),
  'a continuation of nothing': frame(CONTINUATION, 'x'),
  'two beginnings': Buffer.concat([frame(TEXT, 'a', { isFinal: false }), frame(TEXT, 'b')]),
  'text that is no UTF-8': frame(TEXT, Buffer.from([0xff, 0xfe, 0xfd])),
  'half a character': frame(TEXT, Buffer.from([0xe2, 0x82])),
  'a frame that claims 4 GiB': frame(TEXT, 'x', { length: 0xffffffff }),
  'a frame beyond the limit': frame(TEXT, 'x'.repeat(3_000_000)),
  'pieces beyond the limit': Buffer.concat(
    Array.from({ length: 300 }, (_, n) =>
      frame(n === 0 ? TEXT : CONTINUATION, 'x'.repeat(10_000), { isFinal: false }),
    ),
  ),
  'fifty thousand empty pieces': Buffer.concat([
    frame(TEXT, '', { isFinal: false }),
    ...Array.from({ length: 50_000 }, () => frame(CONTINUATION, '', { isFinal: false })),
  ]),
  'ten thousand pings': Buffer.concat(Array.from({ length: 10_000 }, () => frame(PING, ''))),
  'ten thousand frames that are no JSON': Buffer.concat(
    Array.from({ length: 10_000 }, () => frame(TEXT, '{')),
  ),
  binary: frame(BINARY, randomBytes(100)),
  'a hundred thousand brackets': frame(TEXT, '['.repeat(100_000)),
  'a frame cut in the middle': frame(TEXT, HELLO).subarray(0, 9),
  'a result of a call that is not there': frame(
    TEXT,
    JSON.stringify({ type: 'tool_result', id: 'tc_00000000000000000000000000:1.x', output: 1 }),
  ),
  'a million tools': frame(
    TEXT,
    JSON.stringify({ type: 'register_tools', tools: Array.from({ length: 100_000 }, () => 0) }),
  ),
};

/**
 * Byte streams that violate the WebSocket protocol or the device protocol. The server must close or reply,
 * and serve the next device.
 */
export const socketStreams: Battery = async (target, tally) => {
  await eachOf(Object.entries(STREAMS), 6, async ([what, bytes]) => {
    const socket = await upgraded(target);
    if (socket === null) {
      tally.record('no upgrade', `${what}: no socket was opened`);
      return;
    }
    tally.record(await ending(socket, bytes), null);
  });
  const next = await upgraded(target);
  tally.record(
    next === null ? 'refused' : 'next device served',
    next === null ? 'no device is served any more' : null,
  );
  next?.destroy();
};

/** Retries while the server is busy; null if it keeps refusing. */
async function upgraded(target: Target): Promise<Socket | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const socket = await upgradedOnce(target);
    if (socket !== null) return socket;
    await new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return null;
}

async function upgradedOnce(target: Target): Promise<Socket | null> {
  const socket = await target.socket();
  const authorization = target.credentials['client']?.['authorization'] ?? '';
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
      `Authorization: ${authorization}\r\n\r\n`,
  );
  return await new Promise((resolve) => {
    let head = '';
    const read = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', read);
      if (head.startsWith('HTTP/1.1 101')) resolve(socket);
      else socket.destroy();
    };
    socket.on('data', read);
    socket.once('close', () => resolve(null));
    socket.on('error', () => socket.destroy());
  });
}

async function ending(socket: Socket, bytes: Buffer): Promise<string> {
  return await new Promise((resolve) => {
    let received = 0;
    const end = (how: string): void => {
      socket.destroy();
      resolve(how);
    };
    socket.on('data', (chunk: Buffer) => (received += chunk.length));
    socket.once('close', () => end('closed'));
    socket.setTimeout(SILENCE_MS, () => end(received > 0 ? 'responded' : 'silent'));
    socket.write(bytes);
  });
}
