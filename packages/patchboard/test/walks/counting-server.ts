// A server that counts what a call costs it. Configured by the environment. It sends its counts over IPC when it is asked.
import process from 'node:process';
import { environment } from '../../src/settings/environment.ts';
import { RESULT_MARK, startCounting } from './counters.ts';

const { DATABASE_URL: database } = environment();
const take = await startCounting(database === undefined ? null : Number(new URL(database).port));

// Loaded after the counters, which replace functions that it could keep.
const { createPatchboard } = await import('../../src/board/create-patchboard.ts');
const { runServer } = await import('../../src/cli/commands/serve.ts');
const { tool } = await import('../../src/sdk/tool.ts');
const { resolveSettings } = await import('../../src/settings/settings.ts');

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const contract = { name: 'walk.echo', description: 'returns a mark' };
const execute = (): object => ({ said: RESULT_MARK });

const board = await createPatchboard({ tools: [tool({ ...contract, parameters: schema, execute })] });

process.on('message', (asked: { readonly embedded?: unknown }) => {
  const work = asked.embedded === undefined ? take() : board.call(contract.name, asked.embedded);
  work.then(
    (done) => process.send?.(done),
    (error: unknown) => process.send?.({ problem: String(error) }),
  );
});
const echo = {
  ...contract,
  inputSchema: schema,
  outputSchema: null,
  timeoutMs: 60_000,
  annotations: { readonly: true },
  metadata: null,
  concurrency: null,
  execute,
};
await runServer(resolveSettings(environment(), {}), { packs: [{ name: 'walk', tools: [echo] }] });
process.disconnect();
