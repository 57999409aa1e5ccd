import type { NodesView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { clientOf, fakeServer, json } from '../../test/fake-server.ts';

const AT = '2026-01-01T00:00:00.000Z';

const view: NodesView = {
  same_config: false,
  nodes: [
    {
      writer: 1,
      epoch: 2,
      is_self: true,
      state: 'running',
      holder: 'board-a, process 12',
      url: null,
      version: '1.2.3',
      fingerprint: 'aa11',
      room: 60,
      calls: 4,
      last_beat_ms: 120,
      started_at: AT,
      took_over: { writer: 2, at: AT, calls: 7 },
    },
  ],
};

describe('nodes', () => {
  it('are listed as the server shows them', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, view));
    expect(await clientOf(server).nodes()).toEqual(view);
    expect(server.seen[0]).toMatchObject({ method: 'GET', path: '/v1/nodes' });
  });

  it('are rejected if a takeover has no time', async () => {
    const nodes = [{ ...view.nodes[0], took_over: { writer: 2, calls: 7 } }];
    const server = await fakeServer((_seen, response) => json(response, 200, { ...view, nodes }));
    await expect(clientOf(server).nodes()).rejects.toThrow('"nodes[0].took_over.at" is not a string');
  });
});
