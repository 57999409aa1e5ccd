import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TOOLS } from '../../../../scripts/chaos/pack.ts';
import { withChaosFolder } from '../../../../scripts/chaos/scenario.ts';
import { ServerProcess } from '../../../../scripts/chaos/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { FORM, rpc, TASKS } from './support/a-modern-client.ts';

const ARGUMENTS = { n: 7, ms: 1000 };
const CALL = { name: TOOLS.slow, arguments: ARGUMENTS };
/** Waits longer than the server's setting. */
const PATIENT = { capabilities: FORM, query: '?hold=30' };
const ASK = { name: TOOLS.askReturned, arguments: ARGUMENTS };

describe('a server that is killed after it has promised a result', () => {
  it('has it after a restart, as task, as receipt and for a response', { timeout: 120_000 }, async () => {
    await withChaosFolder(async (folder) => {
      const dataFolder = join(folder, 'data');
      const configFile = join(folder, 'config.json');
      writeFileSync(configFile, JSON.stringify({ mcp: { hold_ms: 20, task_after_ms: 20 } }));
      const first = ServerProcess.chaos({ dataFolder, configFile });
      const ids: string[] = [];
      try {
        const url = await first.mustBeReady();
        const task = (await rpc(url, 'tools/call', CALL, { capabilities: TASKS })).result;
        const receipt = (await rpc(url, 'tools/call', CALL)).result;
        expect(task).toMatchObject({ resultType: 'task', status: 'working' });
        expect(receipt.structuredContent).toMatchObject({ status: 'pending' });
        const asked = (await rpc(url, 'tools/call', ASK, PATIENT)).result;
        ids.push(task.taskId, receipt.structuredContent.tool_call_id, asked.requestState);
      } finally {
        await first.destroy();
      }
      const second = ServerProcess.chaos({ dataFolder, configFile });
      try {
        const url = await second.mustBeReady();
        const [taskId = '', id = '', requestState = ''] = ids;
        await waitFor(async () => {
          const { result } = await rpc(url, 'tasks/get', { taskId }, { capabilities: TASKS });
          expect(result).toMatchObject({ status: 'completed', result: { structuredContent: ARGUMENTS } });
        });
        const fetched = { name: 'patchboard__result', arguments: { tool_call_id: id } };
        await waitFor(async () => {
          const { result } = await rpc(url, 'tools/call', fetched);
          expect(result).toMatchObject({ structuredContent: ARGUMENTS });
        });
        const inputResponses = { token: { action: 'accept', content: 5 } };
        const retry = { ...ASK, requestState, inputResponses };
        const { result } = await rpc(url, 'tools/call', retry, PATIENT);
        expect(result.structuredContent).toEqual({ given: 5 });
      } finally {
        await second.destroy();
      }
    });
  });
});
