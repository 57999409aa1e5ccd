import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  BoardError,
  createPatchboard,
  postgres,
  tool,
  type BoardOptions,
  type Patchboard,
} from '../../src/index.ts';
import { aSchema, sharedPostgres, type SharedPostgres } from '../services/shared-postgres.ts';
import { queryOnce } from '../services/with-client.ts';
import { waitFor } from '../support/wait-for.ts';

const LONG = 120_000;
let service: SharedPostgres;
beforeAll(async () => {
  service = await sharedPostgres(15);
}, LONG);

const add = tool('math.add', ({ a, b }: { a: number; b: number }) => ({ sum: a + b }));

async function aBoard(schema: string, options: BoardOptions = {}): Promise<Patchboard> {
  const store = postgres(service.url, { schema });
  const board = await createPatchboard({ tools: [add], store, ...options });
  onTestFinished(() => board.close());
  return board;
}

async function sql(text: string): Promise<readonly unknown[]> {
  return await queryOnce(service.url, text);
}

describe('a board on PostgreSQL', { timeout: LONG }, () => {
  it.each([
    ['mysql://me:planted@db/board', {}, 'postgres(): the URL must be a URL such as postgres://'],
    ['postgres://me:planted@db/board?sslmode=on', {}, 'postgres(): the URL has sslmode=on'],
    ['postgres://me:planted@db/board', { schema: 'a-b' }, 'postgres(): the schema must be a name of 1 to 63'],
  ])('is refused with the URL %s and %j', (url, options, message) => {
    const make = (): unknown => postgres(url, options);
    expect(make).toThrow(BoardError);
    expect(make).toThrow(message);
    expect(make).toThrow(expect.not.stringContaining('planted'));
  });

  it('accepts no request without a credential, and keys of an earlier process', async () => {
    const schema = aSchema(service);
    const first = await aBoard(schema);
    const { secret } = await first.createKey({ kind: 'agent', name: 'ann' });
    await first.close();
    const board = await aBoard(schema);
    const { url, isLocal } = await board.listen({ port: 0 });
    expect([isLocal, (await fetch(`${url}/v1/tools`)).status]).toEqual([false, 401]);
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${url}/v1/tools`, { headers })).status).toBe(200);
  });

  it('keeps about as many calls as `retain` says', async () => {
    const schema = aSchema(service);
    const board = await aBoard(schema, { retain: 5 });
    for (let index = 0; index < 12; index += 1) await board.call('math.add', { a: index, b: 1 });
    await board.close();
    expect(await sql(`select count(*)::int as calls from ${schema}.ended_calls`)).toEqual([{ calls: 5 }]);
  });

  it('refuses every call with the problem once another process has taken over its schema', async () => {
    const schema = aSchema(service);
    const board = await aBoard(schema);
    await board.call('math.add', { a: 1, b: 2 });
    await sql(`update ${schema}.writers set epoch = epoch + 1`);
    const refusal = {
      failure: {
        code: 'storage_unavailable',
        message: expect.stringContaining('another server has taken over'),
      },
    };
    await waitFor(
      async () => await expect(board.call('math.add', { a: 1, b: 2 })).rejects.toMatchObject(refusal),
    );
    await expect(board.invoke('math.add', { a: 1, b: 2 })).rejects.toMatchObject(refusal);
  });
});
