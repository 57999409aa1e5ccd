import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServer, OPERATOR_TOKEN, type TestServer } from '../http/support/a-server.ts';
import { add, danger, failing } from '../http/support/toy-tools.ts';
import { resultOf } from '../support/an-openapi-caller.ts';
import { openApiScene, type UpstreamScene } from '../support/an-openapi-upstream.ts';

const CREDENTIAL = `Bearer ${OPERATOR_TOKEN}`;
/** A server, and the engine of another one that reaches it through its OpenAPI description. */
let inner: TestServer;
let outer: UpstreamScene;

beforeAll(async () => {
  inner = await aServer({ tools: [add, failing, danger] });
  outer = await openApiScene({
    name: 'inner',
    description: { kind: 'url', url: `${inner.url}/openapi.json` },
    headers: { Authorization: CREDENTIAL },
  });
  await outer.becomes('connected');
});
afterAll(async () => {
  await outer.upstream.close();
  await inner.close();
});

const invoke = (name: string, args: unknown): object => ({
  name,
  prefer: 'wait=10',
  body: { run_id: 'run_1', args },
});

describe("the product's own description, imported into a second Patchboard", () => {
  it('offers every operation that is described, with none rejected', async () => {
    const { engine, upstream } = outer;
    const report = engine.upstreams.find('inner');
    const described = Object.values(inner.document.paths).flatMap((item) =>
      Object.values(item as Record<string, { operationId: string }>).map(
        ({ operationId }) => `inner.${operationId}`,
      ),
    );
    expect(report?.rejected).toEqual([]);
    expect(report?.tools.map(({ name }) => name)).toEqual(described.toSorted());
    expect(upstream.status()).toMatchObject({ protocol: 'OpenAPI 3.1.0', server: { name: 'Patchboard' } });
  });

  it('lists tools, invokes one and gets its call, each valid against its output schema', async () => {
    const { call } = outer;
    const listed = resultOf(await call('inner.listTools')) as { tools: { name: string }[] };
    expect(listed.tools.map(({ name }) => name)).toContain('math.add');
    const done = resultOf(await call('inner.invokeTool', invoke('math.add', { a: 2, b: 3 }))) as {
      tool_call_id: string;
    };
    expect(done).toMatchObject({ tool_name: 'math.add', status: 'SUCCEEDED', result: 5 });
    const got = resultOf(await call('inner.getCall', { id: done.tool_call_id }));
    expect(got).toMatchObject({ tool_call_id: done.tool_call_id, result: 5 });
  });

  it('shows an approval of the inner server as what it is: a result that waits', async () => {
    const { call } = outer;
    const { prefer: _prefer, ...request } = invoke('danger', {}) as Record<string, unknown>;
    expect(resultOf(await call('inner.invokeTool', request))).toMatchObject({ status: 'pending' });
  });

  it('fails with the problem of the inner server', async () => {
    const { call } = outer;
    expect((await call('inner.getCall', { id: 'tc_none' })).state).toMatchObject({
      name: 'FAILED',
      error: {
        code: 'tool_failed',
        message: expect.stringMatching(/^GET \/v1\/tool_calls\/\{id\} returned 404 Not Found: /) as string,
        toolResult: { status: 404, body: { code: 'call_not_found' } },
      },
    });
  });

  it('passes the id of the outer call on as idempotency key', async () => {
    const { call } = outer;
    const done = await call('inner.invokeTool', invoke('math.add', { a: 1, b: 1 }));
    const { tool_call_id: first } = resultOf(done) as { tool_call_id: string };
    const same = await inner.post(
      '/v1/tools/math.add/invoke',
      { run_id: 'run_1', args: { a: 1, b: 1 } },
      {
        headers: { 'idempotency-key': done.id, authorization: CREDENTIAL },
      },
    );
    expect(same.json).toMatchObject({ tool_call_id: first });
  });

  it('is called with a configured credential', async () => {
    expect(resultOf(await outer.call('inner.readPolicy'))).toMatchObject({ version: 0 });
  });
});
