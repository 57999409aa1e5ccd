import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/core/ports.ts';
import { nodeClock } from '../../../src/runtime/node-clock.ts';
import { startIndexing } from '../../../src/wiring/call-indexing.ts';
import { aServerTool, silentLog } from '../../support/an-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { aServer, OPERATOR_TOKEN, type HttpResponse, type TestServer } from './a-server.ts';
import { add, failing, gatedTool } from './toy-tools.ts';

const OPERATOR: Readonly<Record<string, string>> = { authorization: `Bearer ${OPERATOR_TOKEN}` };

/** The routes of search over one server, whose store `open` returns. */
export function describeSearch(open: () => Promise<Store>): void {
  let server: TestServer;
  let stopIndexing: () => Promise<void> = async () => {};
  const gate = gatedTool();
  const agents: Record<string, Record<string, string>> = {};

  beforeAll(async () => {
    const store = await open();
    server = await aServer({
      store,
      tools: [add, failing, gate.tool, aServerTool({ name: 'weather.today' })],
    });
    stopIndexing = startIndexing({ store, clock: nodeClock, log: silentLog, engine: server.engine }, null);
    for (const name of ['ada', 'bob']) {
      const key = await server.post('/v1/keys', { kind: 'agent', name }, { headers: OPERATOR });
      agents[name] = { authorization: `Bearer ${key.json.key}` };
    }
    await call('ada', 'weather.today', { city: 'Oslo' });
    await call('ada', 'math.add', { a: 1, b: 2 });
    await call('bob', 'fails', {});
    await call('bob', 'weather.today', { city: 'New Oslo' }, { 'x-trace-id': 'trace-7' });
    // Open until the server closes.
    await server.post('/v1/tools/gated/invoke', { run_id: 'run_ada' }, { headers: agents['ada']! });
    await gate.begun();
    for (const name of ['ada', 'bob']) {
      const body = { run_id: 'run_x', args: {} };
      const unknown = await server.post('/v1/tools/no.tool/invoke', body, { headers: agents[name]! });
      expect(unknown.status).toBe(404);
    }
    await server.post('/v1/runs', { run_id: 'run_none' }, { headers: agents['bob']! });
    await waitFor(async () => expect((await search('tool:*')).json.complete).toBe(true));
  });
  afterAll(async () => {
    gate.open();
    await stopIndexing();
    await server.close();
  });

  async function call(
    agent: string,
    tool: string,
    args: unknown,
    more: Record<string, string> = {},
  ): Promise<void> {
    const headers = { ...agents[agent], ...more, prefer: 'wait=10' };
    await server.post(`/v1/tools/${tool}/invoke`, { run_id: `run_${agent}`, args }, { headers });
  }

  async function search(query: string, more = '', headers = OPERATOR): Promise<HttpResponse> {
    return await server.get(`/v1/tool_calls?query=${encodeURIComponent(query)}${more}`, { headers });
  }

  async function toolsFound(query: string, more = '', headers = OPERATOR): Promise<string[]> {
    const { status, json } = await search(query, more, headers);
    expect([status, json.complete], query).toEqual([200, true]);
    return json.tool_calls.map((one: { tool_name: string }) => one.tool_name);
  }

  describe('GET /v1/tool_calls?query=', () => {
    it('finds calls by every key, the open ones too', async () => {
      expect(await toolsFound('tool:weather.*')).toEqual(['weather.today', 'weather.today']);
      expect(await toolsFound('-tool:weather.*')).toEqual(['gated', 'fails', 'math.add']);
      expect(await toolsFound('agent:bob state:failed code:tool_failed')).toEqual(['fails']);
      expect(await toolsFound('state:open')).toEqual(['gated']);
      expect(await toolsFound('state:open tool:gat* total<1h since:1h run:run_ada')).toEqual(['gated']);
      expect(await toolsFound('"new oslo"')).toEqual(['weather.today']);
      expect(await toolsFound('trace:trace-7', '&order=asc')).toEqual(['weather.today']);
      expect(await toolsFound('total>1h')).toEqual([]);
      expect(await toolsFound('since:1h', '&order=asc')).toEqual([
        'weather.today',
        'math.add',
        'fails',
        'weather.today',
        'gated',
      ]);
    });

    it('combines it with the other parameters', async () => {
      expect(await toolsFound('tool:weather.*', '&agent_id=ada&since=1h')).toEqual(['weather.today']);
      expect(await toolsFound('tool:weather.*', '&tool_name=fails')).toEqual([]);
      expect(await toolsFound('run:run_ada', '&run_id=run_bob')).toEqual([]);
      expect(await toolsFound('state:failed', '&status=SUCCEEDED')).toEqual([]);
      expect(await toolsFound('', '&until=1h')).toEqual([]);
    });

    it('pages in each order, and continues with the time of the first page', async () => {
      for (const sort of ['created', 'waited', 'ran', 'total']) {
        for (const order of ['asc', 'desc']) {
          const more = `&sort=${sort}&order=${order}&limit=2`;
          const ids: string[] = [];
          for (let cursor: string | null = ''; cursor !== null;) {
            const { json } = await search('since:1h', `${more}${cursor}`);
            ids.push(...json.tool_calls.map((one: { tool_call_id: string }) => one.tool_call_id));
            cursor = json.next_cursor === null ? null : `&cursor=${json.next_cursor}`;
          }
          expect(new Set(ids).size, more).toBe(5);
          expect(ids, more).toHaveLength(5);
        }
      }
    });

    it('shows an agent its own calls only', async () => {
      expect(await toolsFound('tool:*', '', agents['ada'])).toEqual(['gated', 'math.add', 'weather.today']);
      expect(await toolsFound('agent:bob', '', agents['ada'])).toEqual([]);
      expect(await toolsFound('run:run_bob tool:*', '', agents['ada'])).toEqual([]);
      expect(await toolsFound('trace:trace-7', '', agents['ada'])).toEqual([]);
      const other = { ...OPERATOR, 'x-tenant-id': 'other' };
      expect(await toolsFound('tool:*', '', other)).toEqual([]);
    });

    it('marks each problem of a query', async () => {
      const { status, json } = await search('tol:x ran>fast state:refused');
      expect([status, json.code]).toEqual([400, 'body_invalid']);
      expect(json.errors).toMatchObject([
        {
          path: '/query',
          column: 1,
          length: 3,
          message: 'column 1: there is no key "tol"; did you mean tool?',
        },
        { path: '/query', column: 11, length: 4 },
        { path: '/query', column: 16, length: 13 },
      ]);
      expect(json.errors[0].reasons[0].code).toBe('query_at_column');
      expect(json.detail).toContain('query/query column 1');
    });

    it('refuses what is no query, no order or a cursor of another list', async () => {
      const refused = [
        'query=%22open',
        'query=ran%3E1e9d',
        `query=${'x'.repeat(2001)}`,
        `query=${'a%20'.repeat(51)}`,
        `query=tool%3A${'*a'.repeat(9)}`,
        'query=since%3A99999999999999999999d',
        'query=run%3A',
        'sort=state',
        'order=up',
        'sort=ran&cursor=tc_00000000000000000000000000',
        'sort=ran&cursor=1.total.desc.1.tc_00000000000000000000000000',
        'cursor=1.ran.desc.1.tc_00000000000000000000000000',
        'cursor=-1.list.tc_00000000000000000000000000',
        'cursor=9999999999999999.list.tc_00000000000000000000000000',
        'since=soon',
      ];
      for (const query of refused) {
        const response = await server.get(`/v1/tool_calls?${query}`, { headers: OPERATOR });
        expect(response.json, query.slice(0, 80)).toMatchObject({ status: 400, code: 'body_invalid' });
      }
    });

    it('takes a query at its limits', async () => {
      const terms = [...Array.from({ length: 49 }, (_, at) => `-tool:${'*a'.repeat(8)}${at}`), 'state:ended'];
      expect(await toolsFound(terms.join(' '))).toHaveLength(4);
      const cursor = '&sort=ran&cursor=999999999999999.ran.desc.-999999999999999.tc_0';
      expect(await toolsFound('state:ended', cursor)).toEqual([]);
    });
  });

  describe('GET /v1/refused_calls', () => {
    it('lists refused requests, newest first, page by page', async () => {
      const first = await server.get('/v1/refused_calls?limit=1&query=since:1h', { headers: OPERATOR });
      expect(first.json).toMatchObject({
        refused_calls: [{ agent_id: 'bob', tool_name: 'no.tool', code: 'tool_not_found', trace_id: null }],
        complete: true,
      });
      const path = `/v1/refused_calls?limit=1&query=since:1h&cursor=${first.json.next_cursor}`;
      const second = await server.get(path, { headers: OPERATOR });
      expect(second.json.refused_calls).toMatchObject([{ agent_id: 'ada' }]);
      expect(second.json.next_cursor).toBeNull();
    });

    it('shows an agent and a tenant their own only, and takes the keys that refusals have', async () => {
      const found = async (query: string, headers: Record<string, string>): Promise<string[]> => {
        const { json } = await server.get(`/v1/refused_calls?query=${query}`, { headers });
        return json.refused_calls.map((one: { agent_id: string }) => one.agent_id);
      };
      expect(await found('tool:no.*', agents['ada']!)).toEqual(['ada']);
      expect(await found('agent:bob', agents['ada']!)).toEqual([]);
      expect(await found('state:refused agent:bob', OPERATOR)).toEqual(['bob']);
      expect(await found('code:rate_limited', OPERATOR)).toEqual([]);
      expect(await found('', { ...OPERATOR, 'x-tenant-id': 'other' })).toEqual([]);
      for (const query of ['query=ran%3E1s', 'cursor=7', 'cursor=1.list.tc_0', 'cursor=1.-1']) {
        const { json } = await server.get(`/v1/refused_calls?${query}`, { headers: OPERATOR });
        expect(json, query).toMatchObject({ status: 400, code: 'body_invalid' });
      }
    });
  });

  describe('GET /v1/call_metrics', () => {
    async function metrics(query: string, headers = OPERATOR): Promise<HttpResponse['json']> {
      return (await server.get(`/v1/call_metrics?${query}`, { headers })).json;
    }

    it('counts ended calls and refused requests', async () => {
      const all = await metrics('');
      expect(all).toMatchObject({ bucket_s: 60, by: null, complete: true, more: 0 });
      expect(all.until - all.since).toBeLessThanOrEqual(61 * 60);
      expect(all.series).toMatchObject([
        {
          key: '',
          count: 6,
          failed: 3,
          outcomes: { COMPLETED: 3, FAILED: 1, REFUSED: 2 },
          codes: { tool_failed: 1, tool_not_found: 2 },
        },
      ]);
      const [{ points, count, ran_ms: ran }] = all.series;
      expect(points.reduce((sum: number, point: { count: number }) => sum + point.count, 0)).toBe(count);
      expect(ran.p50).toBeLessThanOrEqual(ran.max);
    });

    it('groups them, the largest first, in as many buckets as wanted', async () => {
      const keys = async (query: string, headers = OPERATOR): Promise<unknown> =>
        (await metrics(query, headers)).series.map(({ key, count }: { key: string; count: number }) => [
          key,
          count,
        ]);
      expect(await keys('by=tool')).toEqual([
        ['no.tool', 2],
        ['weather.today', 2],
        ['fails', 1],
        ['math.add', 1],
      ]);
      expect(await keys('by=agent&query=tool:weather.*')).toEqual([
        ['ada', 1],
        ['bob', 1],
      ]);
      expect(await keys('by=outcome&query=-tool:no.*')).toEqual([
        ['COMPLETED', 3],
        ['FAILED', 1],
      ]);
      expect(await keys('by=agent', agents['ada'])).toEqual([['ada', 3]]);
      expect(await keys('by=agent&query=agent:bob', agents['ada'])).toEqual([]);
      expect(await keys('by=agent', { ...OPERATOR, 'x-tenant-id': 'other' })).toEqual([]);
      expect(await metrics('since=7d&points=1')).toMatchObject({ bucket_s: 7 * 86_400 });
      expect(await metrics('since=3650d&points=200')).toMatchObject({ bucket_s: 19 * 86_400 });
    });

    it('refuses times in the wrong order, and other parameters', async () => {
      const times = ['since=1h&until=2h', 'since=now', 'since=9999999999'];
      for (const query of [...times, 'points=0', 'points=201', 'by=run', 'query=ran%3E1s'])
        expect(await metrics(query), query).toMatchObject({ status: 400, code: 'body_invalid' });
    });
  });

  describe('GET /v1/runs', () => {
    it('counts the calls of each run', async () => {
      const { json } = await server.get('/v1/runs?since=1h', { headers: OPERATOR });
      const bob = {
        outcome: 'failed',
        calls: { total: 2, open: 0, failed: 1, by_state: { COMPLETED: 1, FAILED: 1 } },
      };
      const ada = {
        outcome: 'running',
        calls: { total: 3, open: 1, failed: 0, by_state: { EXECUTING: 1, COMPLETED: 2 } },
      };
      expect(json).toMatchObject({
        runs: [
          { run_id: 'run_none', outcome: 'empty' },
          { run_id: 'run_bob', ...bob },
          { run_id: 'run_ada', ...ada },
        ],
        complete: true,
      });
      expect(json.runs[1].calls.last_ended_at).toMatch(/Z$/);
      const until = await server.get('/v1/runs?until=1h', { headers: OPERATOR });
      expect(until.json.runs).toEqual([]);
      const none = await server.get('/v1/runs/run_none', { headers: agents['bob']! });
      expect(none.json).toMatchObject({ outcome: 'empty', calls: { total: 0, last_ended_at: null } });
    });

    it('lists the runs of each outcome, of an agent its own', async () => {
      const runsOf = async (query: string, headers = OPERATOR): Promise<string[]> => {
        const { status, json } = await server.get(`/v1/runs?${query}`, { headers });
        expect([status, json.complete, json.next_cursor], query).toEqual([200, true, null]);
        return json.runs.map(({ run_id: id }: { run_id: string }) => id);
      };
      expect(await runsOf('outcome=running')).toEqual(['run_ada']);
      expect(await runsOf('outcome=failed')).toEqual(['run_bob']);
      expect(await runsOf('outcome=empty')).toEqual(['run_none']);
      expect(await runsOf('outcome=completed')).toEqual([]);
      expect(await runsOf('outcome=cancelled')).toEqual([]);
      expect(await runsOf('outcome=failed&agent_id=ada')).toEqual([]);
      expect(await runsOf('outcome=failed&since=1h&limit=1')).toEqual(['run_bob']);
      expect(await runsOf('outcome=failed&until=1h')).toEqual([]);
      expect(await runsOf('outcome=failed', agents['ada'])).toEqual([]);
      expect(await runsOf('outcome=empty', agents['bob'])).toEqual(['run_none']);
      expect(await runsOf('outcome=failed', { ...OPERATOR, 'x-tenant-id': 'other' })).toEqual([]);
      const odd = await server.get('/v1/runs?outcome=odd', { headers: OPERATOR });
      expect(odd.json).toMatchObject({ status: 400, code: 'body_invalid' });
    });

    it('has a page of the calls of one, in any order', async () => {
      const page = async (query: string): Promise<HttpResponse['json']> =>
        (await server.get(`/v1/runs/run_ada?${query}`, { headers: OPERATOR })).json;
      const first = await page('sort=created&order=asc&limit=2');
      expect(first).toMatchObject({ outcome: 'running', calls: { total: 3 }, complete: true });
      expect(first.tool_calls.map((one: { tool_name: string }) => one.tool_name)).toEqual([
        'weather.today',
        'math.add',
      ]);
      const second = await page(`sort=created&order=asc&limit=2&cursor=${first.next_cursor}`);
      expect(second.tool_calls).toMatchObject([{ tool_name: 'gated' }]);
      expect((await page('limit=1')).tool_calls).toMatchObject([{ tool_name: 'gated' }]);
      expect((await page('cursor=1.ran.desc.1.tc_0')).code).toBe('body_invalid');
      const foreign = await server.get('/v1/runs/run_ada', { headers: agents['bob']! });
      expect(foreign.json.code).toBe('run_not_found');
    });
  });
}
