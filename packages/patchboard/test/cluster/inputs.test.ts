import { expect, it, onTestFinished } from 'vitest';
import { attemptToken } from '../../src/core/devices/request-id.ts';
import {
  Agent,
  createPatchboard,
  postgres,
  tool,
  type BoardOptions,
  type Patchboard,
} from '../../src/index.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { aDevice } from '../support/a-device.ts';
import { scenes } from '../support/agent-scene.ts';
import { aPrincipal } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';

const { aModel } = scenes();

const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;
const PARIS = { city: 'Paris' };

/** Two boards over one store. */
async function twoBoards(of: (name: 'a' | 'b') => BoardOptions): Promise<{ a: Patchboard; b: Patchboard }> {
  const service = await sharedPostgres(15);
  const store = postgres(service.url, { schema: aSchema(service) });
  const aBoard = async (name: 'a' | 'b'): Promise<Patchboard> => {
    const board = await createPatchboard({ ...of(name), store });
    onTestFinished(() => board.close());
    return board;
  };
  return { a: await aBoard('a'), b: await aBoard('b') };
}

it('onInputRequest of a board gets the request of a call that another node runs', async () => {
  const ran: string[] = [];
  const { a } = await twoBoards((name) => ({
    tools: [
      tool('slow', (_args, { signal }) => new Promise((end) => signal.addEventListener('abort', end))),
      tool('ask', async (_args, { requestInput }) => {
        ran.push(name);
        return await requestInput(CITY);
      }),
    ],
    limits: { inputExpiryMs: 20_000, drainMs: 100, ...(name === 'a' ? { concurrencyServer: 1 } : {}) },
  }));
  await a.invoke('slow', {}, { runId: 'run_slow' });
  const asked: string[] = [];
  const record = await a.call(
    'ask',
    {},
    {
      onInputRequest: ({ id }) => {
        asked.push(id);
        return PARIS;
      },
    },
  );
  expect(record).toMatchObject({ state: 'COMPLETED', result: PARIS });
  expect([ran, asked]).toEqual([['b'], ['in_1']]);
});

it('a listener of an agent gets the request of a device that is connected to another node', async () => {
  const { a, b } = await twoBoards(() => ({ limits: { inputExpiryMs: 20_000, drainMs: 100 } }));
  const phone = aPrincipal({ clientId: 'phone' });
  const { requests, responses } = await aDevice(b.host.engine, [
    { name: 'camera', schema: { type: 'object' }, timeout_ms: 60_000 },
  ]);
  const { model } = await aModel([{ calls: [{ name: 'camera' }] }, 'Done.']);
  const agent = new Agent({ board: a, model });
  agent.on('input_required', ({ respond }) => void respond(PARIS));
  const replying = agent.send('Go.');
  const call = await waitFor(() => {
    const [request] = requests;
    if (request === undefined) throw new Error('the device has no request yet');
    return request;
  });
  const asked = { key: 'k', attemptToken: attemptToken(call), request: CITY };
  expect(await b.host.engine.clientInputs.request(phone, call.id, asked)).toMatchObject({ ok: true });
  await waitFor(() => expect(responses).toHaveLength(1));
  const given = {
    status: 'SUCCEEDED',
    result: 'a picture',
    error: null,
    attemptToken: attemptToken(call),
  } as const;
  expect(await b.host.engine.clients.submit(phone, call.id, given)).toMatchObject({ ok: true });
  expect((await replying).calls).toMatchObject([{ state: 'COMPLETED', result: 'a picture' }]);
});
