import { expect, it, onTestFinished } from 'vitest';
import type { NodesView } from '@patchboard/wire';
import type { NodeStatus } from '../../src/core/nodes.ts';
import { operatorRoutes } from '../../src/transports/operator-api/routes.ts';
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

it('patchboard nodes lists the nodes, and says that their configurations differ', async () => {
  const other = { ...NODE, writer: 2, isSelf: false, holder: null, fingerprint: 'dd44', tookOver: null };
  const server = await aServer({ nodes: { list: async () => [NODE, other] }, routes: operatorRoutes });
  onTestFinished(() => server.close());
  const environment = { PATCHBOARD_URL: server.url, PATCHBOARD_OPERATOR_TOKEN: OPERATOR_TOKEN };
  const { code, out, error } = await runCli(['nodes'], environment);
  expect([code, error]).toEqual([0, expect.stringContaining('different configurations')]);
  expect(out.split('\n')).toEqual([
    expect.stringMatching(/^NODE +STATE +BEAT +CALLS +ROOM +VERSION +CONFIG +TOOK OVER +HOLDER$/),
    expect.stringMatching(
      /^1 \* +running +0\.3 s +4 +60 +1\.2\.3 +aa11bb22 +7 calls of 3, 2026-01-01\S+ +board-a, process 12$/,
    ),
    expect.stringMatching(/^2 +running +0\.3 s +4 +60 +1\.2\.3 +dd44$/),
    '',
  ]);
  const json = JSON.parse((await runCli(['nodes', '--json'], environment)).out) as NodesView;
  expect([json.same_config, json.nodes.map(({ writer }) => writer)]).toEqual([false, [1, 2]]);
});
