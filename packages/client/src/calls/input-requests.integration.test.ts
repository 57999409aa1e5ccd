import type { CallView, InputRequestView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { aCall, clientOf, failureOf, fakeServer, json, problem, receipt } from '../../test/fake-server.ts';
import { DECLINE_INPUT, INPUT_RESPONDED, isInputGivenEvent, isInputRequiredEvent } from '../index.ts';

const request: InputRequestView = {
  id: 'in_1',
  message: 'Which city?',
  schema: { type: 'object' },
  expires_at: '2030-01-01T00:00:00.000Z',
};
const asked: CallView = aCall({
  status: 'RUNNING',
  state: 'INPUT_REQUIRED',
  result: null,
  completed_at: null,
  input_request: request,
});
const askedReceipt = { ...receipt, state: 'INPUT_REQUIRED', input_request: request };
const { input_request: _none, ...resumed } = asked;

describe('call with onInputRequest', () => {
  it('sends what the handler returns, and waits for the end', async () => {
    const server = await fakeServer((seen, response) => {
      if (seen.path.endsWith('/invoke')) return json(response, 202, askedReceipt);
      if (seen.path.endsWith('/input')) return json(response, 200, resumed);
      // Long polls while the handler runs stay open.
      if (server.seen.some(({ path }) => path.endsWith('/input'))) json(response, 200, aCall());
    });
    const seen: unknown[] = [];
    const call = await clientOf(server).call(
      'demo.ask',
      {},
      {
        onInputRequest: (given, { toolCallId, signal }) => {
          seen.push(given, toolCallId, signal.aborted);
          return { city: 'Paris' };
        },
      },
    );
    expect(call.status).toBe('SUCCEEDED');
    expect(seen).toEqual([request, 'tc_1', false]);
    expect(server.seen[0]!.headers['prefer']).toBe('wait=25');
    expect(server.seen.find(({ path }) => path === '/v1/tool_calls/tc_1/input')?.body).toEqual({
      id: 'in_1',
      action: 'accept',
      content: { city: 'Paris' },
    });
  });

  it.each([
    [DECLINE_INPUT, request, { id: 'in_1', action: 'decline' }],
    [
      'visited',
      { ...request, schema: undefined, url: 'https://x.example' },
      { id: 'in_1', action: 'accept' },
    ],
    [undefined, request, { id: 'in_1', action: 'accept', content: null }],
  ])('responds to %s as it should', async (returned, given, body) => {
    const server = await fakeServer((seen, response) => {
      if (seen.method === 'POST') json(response, 200, aCall());
      else if (server.seen.some(({ method }) => method === 'POST')) json(response, 200, aCall());
      else if (server.seen.length === 1) json(response, 200, { ...asked, input_request: given });
    });
    await clientOf(server).wait('tc_1', { onInputRequest: () => returned });
    expect(server.seen.find(({ method }) => method === 'POST')?.body).toEqual(body);
  });

  it('leaves a response alone that the handler has sent itself', async () => {
    let isOver = false;
    const server = await fakeServer((_seen, response, count) => {
      if (count === 1) json(response, 200, asked);
      else if (isOver) json(response, 200, aCall());
    });
    await clientOf(server).wait('tc_1', {
      onInputRequest: () => {
        isOver = true;
        return INPUT_RESPONDED;
      },
    });
    expect(server.seen.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('rejects with the error of the handler, and neither declines nor cancels', async () => {
    const server = await fakeServer((_seen, response, count) => {
      if (count === 1) json(response, 200, asked);
    });
    const broken = new Error('no form');
    await expect(
      clientOf(server).wait('tc_1', { onInputRequest: () => Promise.reject(broken) }),
    ).rejects.toBe(broken);
    expect(server.seen.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('resolves when the call ends while the handler waits, and aborts its signal', async () => {
    const server = await fakeServer((_seen, response, count) =>
      json(response, 200, count < 4 ? asked : aCall({ state: 'CANCELLED', status: 'FAILED' })),
    );
    let aborted: Promise<void> | undefined;
    const call = await clientOf(server).wait('tc_1', {
      onInputRequest: (_request, { signal }) => {
        aborted = new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
        return new Promise(() => undefined);
      },
    });
    expect(call.state).toBe('CANCELLED');
    await aborted;
  });

  it('goes on when another program responded first, and rejects when the content does not fit', async () => {
    let code = 'conflict';
    const server = await fakeServer((seen, response) => {
      if (seen.method === 'POST') return problem(response, code === 'conflict' ? 409 : 422, code);
      json(response, 200, server.seen.some(({ method }) => method === 'POST') ? aCall() : asked);
    });
    const wait = (): Promise<CallView> =>
      clientOf(server).wait('tc_1', { onInputRequest: () => ({ city: 1 }) });
    expect((await wait()).status).toBe('SUCCEEDED');
    server.seen.length = 0;
    code = 'input_invalid';
    expect((await failureOf(wait())).code).toBe('input_invalid');
  });

  it('does not count the time of the handler for its time limit', async () => {
    let isOver = false;
    let now = 0;
    const server = await fakeServer((seen, response) => {
      if (seen.method === 'POST') isOver = true;
      json(response, 200, isOver ? aCall() : asked);
    });
    // Only the handler takes time on this clock.
    const clock = { now: () => now, after: () => () => undefined };
    const call = await clientOf(server, { clock }).wait('tc_1', {
      timeoutMs: 5000,
      onInputRequest: () => {
        now += 60_000;
        return {};
      },
    });
    expect(call.status).toBe('SUCCEEDED');
  });
});

describe('a caller without onInputRequest', () => {
  it('says with call that it cannot respond, and with invoke nothing', async () => {
    const server = await fakeServer((_seen, response, count) =>
      count === 1 ? json(response, 200, aCall()) : json(response, 202, receipt),
    );
    const client = clientOf(server);
    await client.call('demo.ask');
    await client.invoke('demo.ask');
    await client.invoke('demo.ask', {}, { acceptsInput: false });
    await client.replay('tc_1', {}, { acceptsInput: false });
    await client.invoke('demo.ask', {}, { acceptsInput: ['form', 'sampling'] });
    await client.invoke('demo.ask', {}, { acceptsInput: [] });
    expect(server.seen.map(({ headers }) => headers['prefer'])).toEqual([
      'wait=25, input=none',
      undefined,
      'input=none',
      'input=none',
      'input="form sampling"',
      'input=none',
    ]);
  });

  it('waits for the end of a call that waits for input', async () => {
    const server = await fakeServer((_seen, response, count) =>
      json(response, 200, count < 3 ? asked : aCall()),
    );
    expect((await clientOf(server).wait('tc_1')).status).toBe('SUCCEEDED');
    expect(server.seen.map(({ method, headers }) => [method, headers['prefer']])).toEqual(
      Array(3).fill(['GET', 'wait=25, input=none']),
    );
  });
});

describe('respondInput', () => {
  it('returns the record when the response was taken and the reply lost', async () => {
    const given = { ...request, requested_at: '', action: 'accept' as const, content: {}, responded_at: '' };
    const server = await fakeServer((seen, response, count) => {
      if (count === 1) response.destroy();
      else if (seen.method === 'POST') problem(response, 409, 'conflict');
      else json(response, 200, { ...resumed, inputs: [given] });
    });
    const call = await clientOf(server).respondInput('tc_1', { id: 'in_1', content: {} });
    expect(call.inputs).toEqual([given]);
  });

  it('rejects when another response was taken', async () => {
    const given = { ...request, requested_at: '', action: 'decline' as const, responded_at: '' };
    const server = await fakeServer((seen, response) => {
      if (seen.method === 'POST') problem(response, 409, 'conflict');
      else json(response, 200, { ...resumed, inputs: [given] });
    });
    const error = await failureOf(clientOf(server).respondInput('tc_1', { id: 'in_1', content: {} }));
    expect(error.code).toBe('conflict');
  });
});

describe('the events of input requests', () => {
  it('have guards', () => {
    expect(
      isInputRequiredEvent({ id: '1', type: 'input_required', data: { input_request_id: 'in_1' } }),
    ).toBe(true);
    expect(isInputGivenEvent({ id: '2', type: 'input_given', data: { action: 'accept' } })).toBe(true);
    expect(isInputGivenEvent({ id: '2', type: 'input_required', data: {} })).toBe(false);
    expect(isInputRequiredEvent({ id: '2', type: 'input_required', data: null })).toBe(false);
  });
});
