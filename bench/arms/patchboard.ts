// The server as shipped, with one more tool. Its log output is discarded.
import { once } from 'node:events';
import { openSync } from 'node:fs';
import process from 'node:process';
import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import { resolveLimits, type Limits } from '../../packages/patchboard/src/core/limits.ts';
import { startPlatform } from '../../packages/patchboard/src/wiring/platform.ts';
import { bufferedLines } from '../../packages/patchboard/src/runtime/log-lines.ts';
import { pinoLog } from '../../packages/patchboard/src/runtime/log.ts';
import { BENCH_PACK } from './bench-pack.ts';
import { settingsFor, type StorePlace } from './bench-settings.ts';
import { collectOnRequest } from './collect.ts';
import { forgetful, openStore } from './open-store.ts';

export interface ServerSettings extends StorePlace {
  readonly groupCommit: boolean;
  /** Uses a store that discards calls, to measure everything but the store. */
  readonly forgetful?: boolean;
  readonly limits: Partial<Limits>;
  /** Default: no policy, as on a fresh server. */
  readonly policy?: Readonly<Record<string, unknown>>;
}

const given = JSON.parse(process.argv[2] ?? '') as ServerSettings;
const settings = {
  ...settingsFor(given),
  limits: resolveLimits(given.limits),
  ...(given.policy === undefined ? {} : { policy: given.policy }),
};
const log = pinoLog(settings.logLevel, bufferedLines(openSync('/dev/null', 'w')));
const platform = await startPlatform(settings, log, {
  packs: [BENCH_PACK],
  ...(given.databaseUrl === undefined ? { openStore: openOwn } : {}),
});
collectOnRequest();
process.stdout.write(`ready at ${platform.url}\n`);
await once(process, 'SIGTERM');
await platform.close();

async function openOwn(file: string): Promise<Store> {
  const store = await openStore(file, given.groupCommit);
  return given.forgetful === true ? forgetful(store) : store;
}
