/** Starts a command, a job and a file server, prints a line, and waits to be killed. */
import { nodeDigest } from '../../../src/runtime/digest.ts';
import { timeOrderedIds } from '../../../src/runtime/ids.ts';
import { nodeClock } from '../../../src/runtime/node-clock.ts';
import { memoryStore } from '../../../src/store/memory/memory-store.ts';
import { openSandboxSetup, resolveWorkspace } from '../../../src/wiring/sandbox-setup.ts';

const [folder = '', command = ''] = process.argv.slice(2);
const log = { info: () => {}, warn: () => {}, error: () => {} };
const { workspaces } = await openSandboxSetup(resolveWorkspace({}), {
  store: memoryStore({ digest: nodeDigest }),
  ids: timeOrderedIds(nodeClock),
  log,
  folder,
  tasks: false,
});
const { sandbox } = workspaces.of({ tenant: 'default', runId: 'run_1' });
await sandbox.writeFile('a.txt', 'a');
const job = await sandbox.execBackground(command);
await sandbox.logs(job, { follow: true });
let isReported = false;
await sandbox.exec(command, {
  onOutput: () => {
    if (!isReported) process.stdout.write('up\n');
    isReported = true;
  },
});
