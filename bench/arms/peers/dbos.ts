import { DBOS } from '@dbos-inc/dbos-sdk';
import { ECHO_ARGS } from '../bench-pack.ts';
import { POOL_SIZE, type Peer, type PeerSettings } from './peer.ts';

/**
 * A workflow of one step, called directly: DBOS stores the workflow with its arguments, the result of the
 * step, and the result of the workflow, each in a transaction of its own.
 */
export async function openDbos({ address }: PeerSettings): Promise<Peer> {
  const echo = DBOS.registerWorkflow(
    async (args: typeof ECHO_ARGS) => await DBOS.runStep(async () => args, { name: 'echo' }),
    { name: 'bench_echo' },
  );
  DBOS.setConfig({
    name: 'patchboard-bench',
    systemDatabaseUrl: address,
    systemDatabasePoolSize: POOL_SIZE,
    logLevel: 'error',
  });
  await DBOS.launch();
  return {
    runOnce: async () => void (await echo(ECHO_ARGS)),
    close: async () => await DBOS.shutdown(),
  };
}
