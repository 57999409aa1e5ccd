import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputRequired } from '../../src/sdk/input-required.ts';
import { aPlatform, recordOf, type TestPlatform } from '../guard/support/a-platform.ts';
import { eraClient, type EraClient } from './support/era-client.ts';

const FORM = { elicitation: { form: {} } };
const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
const PARIS = { action: 'accept', content: { city: 'Paris' } };

let server: TestPlatform;
let client: EraClient;
beforeAll(async () => {
  server = await aPlatform({
    resources: {
      prompts: [
        {
          name: 'trip',
          get: (_args, { inputs }) => {
            const { from, to } = inputs;
            if (from === undefined) return inputRequired({ from: { message: 'From where?', schema: CITY } });
            if (to === undefined) return inputRequired({ to: { message: 'To where?', schema: CITY } });
            return JSON.stringify([from.content, to.content]);
          },
        },
      ],
    },
  });
  client = await eraClient(server.platform.url, 'modern');
});
afterAll(() => server.close());

const get = async (params: object = {}, capabilities: Readonly<Record<string, unknown>> = FORM) =>
  await client.request('prompts/get', { name: 'trip', ...params }, capabilities);

describe('a prompt that asks', () => {
  it('gets its input round by round, and nothing is recorded', async () => {
    const before = await recordOf(server.store);
    const first = await get();
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        from: {
          method: 'elicitation/create',
          params: { mode: 'form', message: 'From where?', requestedSchema: CITY },
        },
      },
    });
    expect(first.result).not.toHaveProperty('requestState');
    // A client repeats the state, and sends only the responses to the last requests.
    const second = await get({ inputResponses: { from: PARIS } });
    expect(Object.keys(second.result.inputRequests as object)).toEqual(['to']);
    const { requestState } = second.result as { requestState: string };
    const third = await get({
      requestState,
      inputResponses: { to: { action: 'accept', content: { city: 'Rome' } } },
    });
    expect(third.result).toMatchObject({
      resultType: 'complete',
      messages: [{ content: { text: '[{"city":"Paris"},{"city":"Rome"}]' } }],
    });
    expect(await recordOf(server.store)).toEqual(before);
  });

  it('asks again for a response that does not fit', async () => {
    const { result } = await get({ inputResponses: { from: { action: 'accept', content: { city: 5 } } } });
    expect(Object.keys(result.inputRequests as object)).toEqual(['from']);
  });

  it('fails if the client declines, or cannot respond', async () => {
    const declined = await get({ inputResponses: { from: { action: 'decline' } } });
    expect([declined.status, declined.error.code, declined.error.data.code]).toEqual([
      200,
      -32_603,
      'input_declined',
    ]);
    const unable = await get({}, {});
    expect([unable.status, unable.error.code]).toEqual([400, -32_021]);
    expect(unable.error.data.requiredCapabilities).toEqual(FORM);
    const legacy = await eraClient(server.platform.url, 'legacy');
    const older = await legacy.request('prompts/get', { name: 'trip' });
    expect([older.status, older.error.code, older.error.data.code]).toEqual([
      200,
      -32_603,
      'input_unavailable',
    ]);
  });

  it.each([
    ['a state of another kind', { requestState: 5 }],
    ['a state that is no JSON', { requestState: 'bm9wZQ' }],
    [
      'a state without actions',
      { requestState: Buffer.from('{"from":{"content":1}}').toString('base64url') },
    ],
    ['a state that is no object', { requestState: Buffer.from('[1]').toString('base64url') }],
    ['responses that are no object', { inputResponses: [1] }],
    ['a response without action', { inputResponses: { from: {} } }],
  ])('refuses %s', async (_what, params) => {
    const { status, error } = await get(params);
    expect([status, error.code]).toEqual([200, -32_602]);
  });

  it('validates what a made-up state contains', async () => {
    const made = { from: { action: 'accept', content: { city: 5 } } };
    const { result } = await get({ requestState: Buffer.from(JSON.stringify(made)).toString('base64url') });
    expect(Object.keys(result.inputRequests as object)).toEqual(['from']);
  });
});
