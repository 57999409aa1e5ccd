import type { CallMetricsView, RefusedCallView, RunView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { aCall, clientOf, failureOf, fakeServer, json } from '../../test/fake-server.ts';

const AT = '2026-01-01T00:00:00.000Z';
const percentiles = { p50: 1, p95: 2, p99: 3, max: 4 };

const metrics: CallMetricsView = {
  since: 1,
  until: 61,
  bucket_s: 60,
  by: 'tool',
  complete: true,
  series: [
    {
      key: 'demo.echo',
      count: 2,
      failed: 1,
      outcomes: { COMPLETED: 1, REFUSED: 1 },
      codes: { rate_limited: 1 },
      ran_ms: percentiles,
      waited_ms: null,
      points: [{ at: 0, count: 2, failed: 1, ran_ms: percentiles, waited_ms: null }],
    },
  ],
  more: 0,
};

const refused: RefusedCallView = {
  seq: 7,
  at: AT,
  agent_id: 'planner',
  tool_name: 'demo.echo',
  code: 'rate_limited',
  message: 'too many',
  trace_id: null,
};

const run: RunView = {
  run_id: 'r 1',
  agent_id: 'planner',
  created_at: AT,
  cancelled_at: null,
  outcome: 'failed',
  calls: { total: 1, open: 0, failed: 1, by_state: { FAILED: 1 }, last_ended_at: AT },
};

describe('searches', () => {
  it('send query, sort and order, and tell whether the result is complete', async () => {
    const page = { tool_calls: [aCall()], next_cursor: null, complete: false };
    const server = await fakeServer((_seen, response) => json(response, 200, page));
    const filter = { query: 'tool:a "b c"', sort: 'ran', order: 'asc', since: '1h' } as const;
    expect(await clientOf(server).calls(filter).page()).toEqual({
      items: [aCall()],
      nextCursor: null,
      complete: false,
    });
    expect(server.seen[0]?.path).toBe(
      '/v1/tool_calls?query=tool%3Aa%20%22b%20c%22&sort=ran&order=asc&since=1h',
    );
  });

  it('reject with the column and length of each problem', async () => {
    const errors = [{ path: '/query', message: 'column 1: there is no key', column: 1, length: 3 }];
    const problem = { code: 'body_invalid', detail: 'bad query', retryable: false, errors };
    const server = await fakeServer((_seen, response) => json(response, 400, problem));
    const error = await failureOf(clientOf(server).calls({ query: 'tol:x' }).page());
    expect(error).toMatchObject({ code: 'body_invalid', issues: errors });
  });

  it('list refused requests', async () => {
    const page = { refused_calls: [refused], next_cursor: '7', complete: true };
    const server = await fakeServer((_seen, response) => json(response, 200, page));
    const found = await clientOf(server).refusedCalls({ query: 'code:rate_limited', limit: 1 }).page();
    expect(found).toEqual({ items: [refused], nextCursor: '7', complete: true });
    expect(server.seen[0]?.path).toBe('/v1/refused_calls?query=code%3Arate_limited&limit=1');
  });

  it('return metrics as the server sent them', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, metrics));
    const options = { since: new Date(AT), by: 'tool', query: 'tool:demo.*', points: 10 } as const;
    expect(await clientOf(server).callMetrics(options)).toEqual(metrics);
    expect(server.seen[0]?.path).toBe(
      '/v1/call_metrics?since=2026-01-01T00%3A00%3A00.000Z&by=tool&query=tool%3Ademo.*&points=10',
    );
  });

  it('reject metrics whose counts are no numbers', async () => {
    const series = [{ ...metrics.series[0], codes: { timeout: 'many' } }];
    const server = await fakeServer((_seen, response) => json(response, 200, { ...metrics, series }));
    await expect(clientOf(server).callMetrics()).rejects.toThrow('"series[0].codes.timeout" is not a number');
  });
});

describe('runs', () => {
  it('are listed with counts, by agent, outcome and time', async () => {
    const server = await fakeServer((_seen, response) =>
      json(response, 200, { runs: [run], next_cursor: null }),
    );
    const options = { agentId: 'planner', outcome: 'failed', since: '1d', limit: 5 } as const;
    const list = await clientOf(server).runs.list(options).page();
    expect(list.items).toEqual([run]);
    expect(server.seen[0]?.path).toBe('/v1/runs?agent_id=planner&outcome=failed&since=1d&limit=5');
  });

  it('are read on after a page without any', async () => {
    const bodies = [
      { runs: [], next_cursor: '7' },
      { runs: [run], next_cursor: null },
    ];
    const server = await fakeServer((_seen, response) => json(response, 200, bodies.shift()));
    const found = [];
    for await (const one of clientOf(server).runs.list({ outcome: 'empty' })) found.push(one);
    expect(found).toEqual([run]);
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/v1/runs?outcome=empty',
      '/v1/runs?outcome=empty&cursor=7',
    ]);
  });

  it('come with a page of their calls', async () => {
    const body = { ...run, tool_calls: [aCall()], next_cursor: 'c', complete: true };
    const server = await fakeServer((_seen, response) => json(response, 200, body));
    const page = await clientOf(server).runs.page('r 1', { order: 'asc', limit: 200, cursor: 'b' });
    expect(page.run).toMatchObject(run);
    expect(page.calls).toEqual({ items: [aCall()], nextCursor: 'c', complete: true });
    expect(server.seen[0]?.path).toBe('/v1/runs/r%201?order=asc&cursor=b&limit=200');
  });

  it('of an older server have no counts', async () => {
    const { outcome: _outcome, calls: _calls, ...old } = run;
    const server = await fakeServer((_seen, response) => json(response, 200, old));
    expect(await clientOf(server).runs.get('r 1')).toEqual(old);
    expect(server.seen[0]?.path).toBe('/v1/runs/r%201?limit=1');
  });
});
