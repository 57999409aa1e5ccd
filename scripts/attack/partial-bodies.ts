import { eachOf, type Battery } from './battery.ts';
import type { Target } from './target.ts';

/** Paths of every kind: unknown, public, protected, upgrade. */
const PATHS = [
  '/nowhere',
  '/healthz',
  '/openapi.json',
  '/v1/session',
  '/v1/runs',
  '/v1/tools/x/invoke',
  '/ws',
];
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'];
const FRAMINGS = ['Content-Length: 1000000', 'Transfer-Encoding: chunked'];
const SILENCE_MS = 5000;

/** Large bodies that stall, without a credential: the response must not wait for the rest. */
export const partialBodies: Battery = async (target, tally, { isShort }) => {
  const methods = isShort ? METHODS.slice(0, 1) : METHODS;
  const requests = PATHS.flatMap((path) =>
    methods.flatMap((method) => FRAMINGS.map((framing) => ({ path, method, framing }))),
  );
  await eachOf(requests, 8, async ({ path, method, framing }) => {
    const status = await statusOf(target, `${method} ${path}`, framing);
    const hasResponse =
      status !== null && (status < 300 || (status >= 400 && status < 500 && status !== 408));
    const violation = hasResponse ? null : `${method} ${path} with ${framing}: ${status ?? 'no response'}`;
    tally.record(String(status ?? 'silent'), violation);
  });
};

/** Null if there was no response. */
async function statusOf(target: Target, line: string, framing: string): Promise<number | null> {
  const socket = await target.socket();
  const piece = ' '.repeat(20_000);
  const body = framing.startsWith('Content') ? piece : `${piece.length.toString(16)}\r\n${piece}\r\n`;
  return await new Promise((resolve) => {
    const end = (status: number | null): void => {
      socket.destroy();
      resolve(status);
    };
    socket.setTimeout(SILENCE_MS, () => end(null));
    socket.on('error', () => end(null));
    socket.on('close', () => end(null));
    socket.once('data', (head: Buffer) => end(Number(head.toString('latin1').slice(9, 12))));
    socket.write(
      `${line} HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n${body}`,
    );
  });
}
