import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { clientOf, fakeServer, json, openSse, problem, running } from '../../test/fake-server.ts';
import { onAbort, orAbort } from './abort.ts';
import type { PatchboardClient } from '../index.ts';

const REASON = new Error('the user left');

/** Starts the work, aborts it after the server has received `after` requests, and expects it to reject with the abort reason. */
async function abortsCleanly(
  server: { requests(count: number): Promise<void> },
  after: number,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController();
  const outcome = work(controller.signal).then(
    () => 'finished',
    (error: unknown) => error,
  );
  await server.requests(after);
  controller.abort(REASON);
  expect(await outcome).toBe(REASON);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
}

describe('an abort', () => {
  const METHODS: [string, (client: PatchboardClient, signal: AbortSignal) => Promise<unknown>][] = [
    ['tools', (client, signal) => client.tools({ signal })],
    ['tool', (client, signal) => client.tool('demo.echo', { signal })],
    ['invoke', (client, signal) => client.invoke('demo.echo', {}, { signal })],
    ['dryRun', (client, signal) => client.dryRun('demo.echo', {}, { signal })],
    ['get', (client, signal) => client.get('tc_1', { signal })],
    ['wait', (client, signal) => client.wait('tc_1', { signal })],
    ['call', (client, signal) => client.call('demo.echo', {}, { signal })],
    ['cancel', (client, signal) => client.cancel('tc_1', { signal })],
    ['replay', (client, signal) => client.replay('tc_1', undefined, { signal })],
    ['calls', (client, signal) => client.calls({ signal }).page()],
    ['runs.create', (client, signal) => client.runs.create({ signal })],
    ['health', (client, signal) => client.health({ signal })],
    ['events', (client, signal) => client.events({ signal }).next()],
    ['requests', (client, signal) => client.provider('phone').requests({ signal }).next()],
    [
      'submit',
      (client, signal) =>
        client.provider('phone').submit('tc_1', { status: 'SUCCEEDED', result: 1 }, { signal }),
    ],
  ];

  it.each(METHODS)('before %s begins sends nothing', async (_name, work) => {
    const server = await fakeServer(() => undefined);
    await expect(work(clientOf(server), AbortSignal.abort(REASON))).rejects.toBe(REASON);
    expect(server.seen).toHaveLength(0);
  });

  it.each(METHODS)(
    'ends %s while the server does not respond, and closes the connection',
    async (_name, work) => {
      const server = await fakeServer(() => undefined);
      await abortsCleanly(server, 1, (signal) => work(clientOf(server), signal));
      await server.seen[0]!.closed;
    },
  );

  it('ends a request in the middle of its response', async () => {
    const server = await fakeServer((_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"tool_call_id":');
    });
    await abortsCleanly(server, 1, (signal) => clientOf(server).get('tc_1', { signal }));
  });

  it('ends the pause before a retry', async () => {
    const server = await fakeServer((_seen, response) =>
      problem(response, 503, 'overloaded', { retryable: true }, { 'retry-after': '50000' }),
    );
    const client = clientOf(server, { retry: { maxRetryAfterMs: 1e9 } });
    await abortsCleanly(server, 1, (signal) => client.invoke('demo.echo', {}, { signal }));
    expect(server.seen).toHaveLength(1);
  });

  it('ends a wait between two polls', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, running));
    await abortsCleanly(server, 3, (signal) => clientOf(server).wait('tc_1', { signal }));
  });

  it('ends a stream that is open', async () => {
    const server = await fakeServer((_seen, response) => {
      openSse(response)(1, 'registry.changed', {});
    });
    const controller = new AbortController();
    const events = clientOf(server).events({ signal: controller.signal });
    await events.next();
    const pending = events.next();
    controller.abort(REASON);
    await expect(pending).rejects.toBe(REASON);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await server.seen[0]!.closed;
  });

  it('leaves no listener behind after a successful request', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, { tools: [] }));
    const controller = new AbortController();
    await clientOf(server).tools({ signal: controller.signal });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});

describe('onAbort', () => {
  it('runs the action immediately if the signal is already aborted', () => {
    let acted = 0;
    onAbort(AbortSignal.abort(), () => (acted += 1))();
    expect(acted).toBe(1);
  });
});

describe('orAbort', () => {
  it('does not wait for work that ignores the signal', async () => {
    const controller = new AbortController();
    const work = orAbort(new Promise(() => undefined), controller.signal);
    controller.abort(REASON);
    await expect(work).rejects.toBe(REASON);
  });
});
