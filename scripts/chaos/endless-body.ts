import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { post } from './http.ts';
import { TOOLS } from './pack.ts';
import { Findings, type ScenarioReport } from './scenario.ts';
import { ServerProcess } from './server-process.ts';

const CHUNK = Buffer.alloc(65_536, 'a');
/** Far below the size of the body, well above the garbage that a collector may leave. */
const GROWTH_BYTES = 48 * 1024 * 1024;
const AT_ONCE = 4;
/** Just over the body limit of 1 MiB and 64 KiB, so that the server reads it all before it responds. */
const OVER_LIMIT_BYTES = 18 * 65_536;
const LISTEN_MS = 10_000;

/** G13: a body of any size gets 413, and memory stays flat. */
export async function runEndlessBody(folder: string, bytes: number): Promise<ScenarioReport> {
  const findings = new Findings();
  const server = ServerProcess.chaos({ dataFolder: join(folder, 'data') });
  try {
    const url = await server.mustBeReady();
    const invoke = `/v1/tools/${TOOLS.quick}/invoke`;
    const good = { run_id: 'run_1', args: { n: 1, ms: 0 } };
    for (let count = 0; count < 50; count += 1) await post(`${url}${invoke}`, good); // warm
    const before = server.memory().now;
    const chunked = 'transfer-encoding: chunked';
    // These pause once to read, so they must get the response; the others never read, and may lose it to the reset.
    const listening = [
      await sendBody(url, invoke, { header: chunked, bytes, listenAfter: OVER_LIMIT_BYTES }),
      await sendBody(url, invoke, { header: `content-length: ${bytes}`, bytes, listenAfter: 0 }),
    ];
    for (const { response } of listening)
      findings.check(is413(response), `a body of ${bytes} bytes got ${firstLine(response)}`);
    const deaf = await Promise.all(
      Array.from({ length: AT_ONCE }, () =>
        sendBody(url, invoke, { header: chunked, bytes, listenAfter: bytes }),
      ),
    );
    for (const { response, sent } of deaf)
      findings.check(
        is413(response) || (response === '' && sent < bytes),
        `a body of ${bytes} bytes got ${firstLine(response)}`,
      );
    const { peak } = server.memory();
    findings.check(
      peak - before < GROWTH_BYTES,
      `memory grew by ${megabytes(peak - before)} MB while ${AT_ONCE} bodies of ${megabytes(bytes)} MB came in`,
    );
    const { status } = await post(`${url}${invoke}`, good);
    findings.check(status === 202, `afterwards a good request got ${status}`);
    return {
      facts: {
        offeredMb: megabytes(bytes),
        takenMb: [...listening, ...deaf].map((one) => megabytes(one.sent)),
        memoryBeforeMb: megabytes(before),
        memoryPeakMb: megabytes(peak),
      },
      violations: findings.violations,
    };
  } finally {
    await server.destroy();
  }
}

interface SentBody {
  readonly response: string;
  readonly sent: number;
}

interface Body {
  readonly header: string;
  readonly bytes: number;
  /** Number of bytes after which the client waits once for a response. */
  readonly listenAfter: number;
}

/** Sends until everything is sent or the server closes the connection; returns the response. */
async function sendBody(url: string, path: string, { header, bytes, listenAfter }: Body): Promise<SentBody> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  let response = '';
  socket.setEncoding('utf8');
  socket.on('error', () => {}); // the server may close the connection meanwhile
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const responded = new Promise<void>((resolve) => {
    socket.on('data', (text: string) => {
      response += text;
      resolve();
    });
  });
  const listen = async (): Promise<void> => {
    const timer = setTimeout(() => socket.destroy(), LISTEN_MS);
    await Promise.race([responded, closed]);
    clearTimeout(timer);
  };
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${header}\r\n\r\n`,
  );
  const isChunked = header.includes('chunked');
  let sent = 0;
  let hasListened = false;
  while (sent < bytes && socket.writable) {
    if (!hasListened && sent >= listenAfter) {
      await listen();
      hasListened = true;
    }
    const chunk = isChunked ? [`${CHUNK.length.toString(16)}\r\n`, CHUNK, '\r\n'] : [CHUNK];
    for (const part of chunk) socket.write(part);
    sent += CHUNK.length;
    if (socket.writableNeedDrain) await drained(socket);
  }
  if (isChunked && socket.writable) socket.write('0\r\n\r\n');
  await listen();
  socket.destroy();
  await closed;
  return { response, sent };
}

async function drained(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const go = (): void => {
      socket.off('drain', go).off('close', go);
      resolve();
    };
    socket.once('drain', go).once('close', go);
  });
}

function is413(response: string): boolean {
  return response.startsWith('HTTP/1.1 413');
}

function firstLine(text: string): string {
  return text === '' ? 'nothing' : (text.split('\r\n')[0] ?? '');
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
