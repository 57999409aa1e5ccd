import { expect, it, onTestFinished } from 'vitest';
import type { NodesView } from '@patchboard/wire';
import type { NodeStatus } from '../../src/core/nodes.ts';
import { operatorRoutes } from '../../src/transports/operator-api/routes.ts';
import { processContext } from '../../src/cli/context.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { nodeFindings } from '../../src/cli/nodes-finding.ts';
import { aServer, OPERATOR_TOKEN } from '../http/support/a-server.ts';
import { runCli } from '../support/run-cli.ts';

const AT = Date.UTC(2026, 0, 1);
const NODE: NodeStatus = {
  writer: 1,
  epoch: 2,
  isSelf: true,
  state: 'running',
  holder: 'board-a, process 12',
  url: null,
  version: '1.2.3',
  fingerprint: 'aa11bb22cc33',
  room: 60,
  calls: 4,
  lastBeatMs: 310,
  startedAt: AT,
  tookOver: { from: 3, at: AT, calls: 7 },
};

const OTHER: NodeStatus = {
  ...NODE,
  writer: 2,
  isSelf: false,
  holder: null,
  fingerprint: 'dd44',
  tookOver: null,
};

/** A server with these nodes. Returns the environment of commands that use it. */
async function serve(...nodes: readonly NodeStatus[]): Promise<Readonly<Record<string, string>>> {
  const server = await aServer({ nodes: { list: async () => nodes }, routes: operatorRoutes });
  onTestFinished(() => server.close());
  return { PATCHBOARD_URL: server.url, PATCHBOARD_OPERATOR_TOKEN: OPERATOR_TOKEN };
}

it('patchboard nodes lists the nodes, and says that their configurations differ', async () => {
  const environment = await serve(NODE, OTHER);
  const { code, out, error } = await runCli(['nodes'], environment);
  expect([code, error]).toEqual([0, expect.stringContaining('different configurations')]);
  expect(out.split('\n')).toEqual([
    expect.stringMatching(/^NODE +STATE +BEAT +CALLS +ROOM +VERSION +CONFIG +TOOK OVER +HOLDER$/),
    expect.stringMatching(
      /^1 \* +running +310 ms +4 +60 +1\.2\.3 +aa11bb22 +7 calls of 3, 2026-01-01\S+ +board-a, process 12$/,
    ),
    expect.stringMatching(/^2 +running +310 ms +4 +60 +1\.2\.3 +dd44$/),
    '',
  ]);
  const json = JSON.parse((await runCli(['nodes', '--json'], environment)).out) as NodesView;
  expect([json.same_config, json.nodes.map(({ writer }) => writer)]).toEqual([false, [1, 2]]);
});

it('patchboard nodes fits a terminal of 40 columns, and is unreachable or denied as other commands', async () => {
  const environment = await serve(NODE, OTHER);
  const { code, out } = await runCli(['nodes'], environment, undefined, 40);
  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    'NODE       1 *',
    'STATE      running',
    'BEAT       310 ms',
    'CALLS      4',
    'ROOM       60',
    'VERSION    1.2.3',
    'CONFIG     aa11bb22',
    'TOOK OVER  7 calls of 3,',
    '           2026-01-01T00:00:00.000Z',
    'HOLDER     board-a, process 12',
    '',
    'NODE       2',
    'STATE      running',
    'BEAT       310 ms',
    'CALLS      4',
    'ROOM       60',
    'VERSION    1.2.3',
    'CONFIG     dd44',
    '',
  ]);
  const unreachable = { ...environment, PATCHBOARD_URL: 'http://127.0.0.1:1' };
  expect(await runCli(['nodes'], unreachable)).toMatchObject({ code: EXIT.unreachable, out: '' });
  const denied = { ...environment, PATCHBOARD_OPERATOR_TOKEN: `op_${'x'.repeat(43)}` };
  expect(await runCli(['nodes'], denied)).toMatchObject({ code: EXIT.denied, out: '' });
});

it('doctor warns if the nodes were started differently, and does not mention a single one', async () => {
  const found = async (...nodes: readonly NodeStatus[]): Promise<unknown> => {
    const environment = await serve(...nodes);
    return await nodeFindings(processContext(environment), {});
  };
  expect(await found(NODE)).toEqual([]);
  const detail = '1 is running, version 1.2.3; 2 is running, version 1.2.3';
  const same = { ...OTHER, fingerprint: NODE.fingerprint };
  expect(await found(NODE, same)).toEqual([{ check: 'nodes', ok: true, detail }]);
  expect(await found(NODE, OTHER)).toEqual([
    {
      check: 'nodes',
      ok: true,
      warning: true,
      detail: expect.stringMatching(/^1 is running.*; their configurations, packs or hooks differ: /),
    },
  ]);
});
