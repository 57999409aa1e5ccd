import type { Battery } from './battery.ts';
import type { Target } from './target.ts';

const SHORT = 60;
const LONG = 800;
const PATIENCE_MS = 20_000;

/** Streams that are reset before, during and after their start: none may stay open. */
export const streamResets: Battery = async (target, tally, { isShort, random }) => {
  const authorization = target.credentials['agent']?.['authorization'] ?? '';
  const request =
    `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nAuthorization: ${authorization}\r\n` +
    `Last-Event-ID: 0\r\n\r\n`;
  for (let round = 0; round < (isShort ? SHORT : LONG); round += 1) {
    const socket = await target.socket();
    socket.on('error', () => undefined);
    socket.write(request);
    const waitMs = random.pick([0, 0, 1, 3, 10]);
    if (waitMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, waitMs));
    socket.resetAndDestroy();
    tally.record('reset', null);
  }
  const left = await settled(target);
  tally.record(`${left} left`, left === 0 ? null : `${left} event streams are open without a client`);
};

/** Event streams that are open once the resets have arrived. */
async function settled(target: Target): Promise<number> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const open = await openStreams(target);
    if (open === 0 || Date.now() > deadline) return open;
    await new Promise<void>((resolve) => setTimeout(resolve, 100));
  }
}

async function openStreams({ send, operator }: Target): Promise<number> {
  const { text } = await send('/metrics', { headers: operator });
  const line = /^patchboard_event_streams_open(?:\{[^}]*\})? (\d+)/m.exec(text);
  if (line === null) throw new Error('/metrics does not say how many event streams are open');
  return Number(line[1]);
}
