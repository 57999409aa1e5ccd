import { join } from 'node:path';
import { ECHO_ARGS } from './arms/bench-pack.ts';
import { runScript } from './child.ts';
import type { Contender, EchoServer } from './contenders.ts';
import type { FigureOptions } from './figure.ts';
import type { Headers } from './http.ts';
import type { Load, LoadSettings } from './load/generate.ts';
import type { Measurement } from './measurement.ts';

const WARM_SECONDS = 10;
/** Longer than any response takes. */
const WAIT = { prefer: 'wait=30' };

interface Loaded {
  readonly name: string;
  readonly server: EchoServer;
  readonly hasReceipts: boolean;
}

/** Requests per second to a server of each contender, slice by slice. */
export async function loadContenders(
  contenders: readonly Contender[],
  connections: number,
  folder: string,
  { quick, say }: FigureOptions,
): Promise<readonly Measurement[]> {
  const whole: Record<string, number[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  const receipts: Record<string, number[]> = Object.fromEntries(
    contenders.filter(({ hasReceipts }) => hasReceipts).map(({ name }) => [name, []]),
  );
  const loaded: Loaded[] = [];
  const slices = quick ? 1 : 6;
  const seconds = quick ? 1 : 3;
  try {
    for (const contender of contenders) {
      const { name, hasReceipts } = contender;
      say(`warming ${name} over HTTP`);
      const server = await contender.serve(join(folder, name), connections * 4);
      loaded.push({ name, server, hasReceipts });
      await load(server, connections, quick ? 1 : WARM_SECONDS, WAIT);
    }
    for (let slice = 0; slice < slices; slice += 1) {
      say(`HTTP, slice ${slice + 1} of ${slices}`);
      for (const { name, server } of slice % 2 === 0 ? loaded : loaded.toReversed()) {
        whole[name]?.push(await load(server, connections, seconds, WAIT));
        // Right after the other, so that both have the same neighbours in time.
        receipts[name]?.push(await load(server, connections, seconds, {}));
      }
    }
  } finally {
    for (const { server } of loaded) await server.stop();
  }
  return [
    { name: `P1: whole call over HTTP, ${connections} connections`, unit: 'per second', runs: whole },
    { name: `P1: durable receipt over HTTP, ${connections} connections`, unit: 'per second', runs: receipts },
  ];
}

async function load(
  { url, headers }: EchoServer,
  connections: number,
  seconds: number,
  preference: Headers,
): Promise<number> {
  const own = { headers: { ...headers, ...preference }, args: ECHO_ARGS };
  const settings: LoadSettings = { ...own, url, connections, seconds };
  const { perSecond } = await runScript<Load>('./load/generate.ts', settings);
  return perSecond;
}
