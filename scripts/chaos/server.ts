// The server as it is shipped, with tools that leave traces and a store that can fail at a chosen point.
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
  /** The failpoint kills when it is reached for this time. */
  readonly hit: number;
  /** Null: as far as the disk goes. */
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
