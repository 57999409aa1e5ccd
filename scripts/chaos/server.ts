// The server as shipped, with tools that record their executions and a store with failpoints.
import process from 'node:process';
import { environment } from '../../packages/patchboard/src/settings/environment.ts';
import { runServer } from '../../packages/patchboard/src/cli/commands/serve.ts';
import { resolveSettings } from '../../packages/patchboard/src/settings/settings.ts';
import { messageOf } from '../../packages/patchboard/src/core/failures.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { sqliteStore } from '../../packages/patchboard/src/store/sqlite/sqlite-store.ts';
import { Failpoint, failingStore, type FailpointName } from './failpoints.ts';
import { chaosPack } from './pack.ts';

export interface ChaosServerOptions {
  readonly effectsFile: string;
  readonly failpoint: FailpointName | null;
  /** The number of the pass at which the failpoint kills. */
  readonly hit: number;
  /** Null: no limit but the disk. */
  readonly maxStoreBytes: number | null;
}

const options = JSON.parse(process.argv[2] ?? '') as ChaosServerOptions;
const failpoint = new Failpoint(options.failpoint, options.hit);
try {
  await runServer(resolveSettings(environment(), {}), {
    packs: [chaosPack(options.effectsFile, failpoint)],
    openStore: async (file, log) => {
      const size = options.maxStoreBytes === null ? {} : { maxBytes: options.maxStoreBytes };
      return failingStore(await sqliteStore({ file, digest: nodeDigest, log, ...size }), failpoint);
    },
  });
} catch (error) {
  process.stderr.write(`chaos server: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
