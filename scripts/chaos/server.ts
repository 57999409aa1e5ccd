// The server as shipped, with tools that record their executions and a store with failpoints.
import process from 'node:process';
import type { Log, Store } from '../../packages/patchboard/src/core/ports.ts';
import { environment } from '../../packages/patchboard/src/settings/environment.ts';
import { runServer } from '../../packages/patchboard/src/cli/commands/serve.ts';
import { resolveSettings } from '../../packages/patchboard/src/settings/settings.ts';
import { messageOf } from '../../packages/patchboard/src/core/failures.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { sqliteStore } from '../../packages/patchboard/src/store/sqlite/sqlite-store.ts';
import { openStore } from '../../packages/patchboard/src/wiring/open-store.ts';
import { effectsIn } from './effects.ts';
import { Failpoint, failingStore, type FailpointName } from './failpoints.ts';
import { chaosPack } from './pack.ts';
import { faultyEffects, faultyStore, type PlantedFault } from './planted-faults.ts';

export interface ChaosServerOptions {
  readonly effectsFile: string;
  readonly failpoint: FailpointName | null;
  /** The number of the pass at which the failpoint kills. */
  readonly hit: number;
  /** SQLite only. Null: no limit but the disk. */
  readonly maxStoreBytes: number | null;
  /** A fault that the checker must find. */
  readonly planted: PlantedFault | null;
}

const options = JSON.parse(process.argv[2] ?? '') as ChaosServerOptions;
const failpoint = new Failpoint(options.failpoint, options.hit);
const settings = resolveSettings(environment(), {});
try {
  await runServer(settings, {
    packs: [chaosPack(faultyEffects(effectsIn(options.effectsFile), options.planted), failpoint)],
    openStore: async (file, log) =>
      failingStore(faultyStore(await openedStore(file, log), options.planted), failpoint),
  });
} catch (error) {
  process.stderr.write(`chaos server: ${messageOf(error)}\n`);
  process.exitCode = 1;
}

async function openedStore(file: string, log: Log): Promise<Store> {
  const { maxStoreBytes } = options;
  if (maxStoreBytes === null) return await openStore(settings, log);
  return await sqliteStore({ file, digest: nodeDigest, log, maxBytes: maxStoreBytes });
}
