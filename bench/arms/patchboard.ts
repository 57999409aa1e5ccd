// The server as it is shipped, with one more tool. It logs as it always does, to nowhere.
import { once } from 'node:events';
import process from 'node:process';
import { pino } from 'pino';
import { resolveSettings } from '../../packages/patchboard/src/cli/settings.ts';
import { resolveLimits, type Limits } from '../../packages/patchboard/src/core/limits.ts';
import { startPlatform } from '../../packages/patchboard/src/platform.ts';
import { pinoLog } from '../../packages/patchboard/src/runtime/log.ts';
import { BENCH_PACK } from './bench-pack.ts';
import { openStore } from './open-store.ts';

export interface ServerSettings {
  readonly folder: string;
  readonly groupCommit: boolean;
  readonly limits: Partial<Limits>;
}

const given = JSON.parse(process.argv[2] ?? '') as ServerSettings;
const settings = {
  ...resolveSettings({ PORT: '0', PATCHBOARD_DATA: given.folder }, {}),
  limits: resolveLimits(given.limits),
};
const log = pinoLog(settings.logLevel, pino.destination({ dest: '/dev/null', sync: false }));
const platform = await startPlatform(settings, log, {
  packs: [BENCH_PACK],
  openStore: (file) => openStore(file, given.groupCommit),
});
process.stdout.write(`ready at ${platform.url}\n`);
await once(process, 'SIGTERM');
await platform.close();
