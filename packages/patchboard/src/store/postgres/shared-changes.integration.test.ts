import { expect, it } from 'vitest';
import { waitFor } from '../../../test/support/wait-for.ts';
import { aTool, anEntry, digest } from '../samples.contract.ts';
import { aDatabase } from './a-database.contract.ts';
import { Revisions } from './revisions.ts';
import { sharedStores } from './shared-stores.contract.ts';
import { TokenTable } from './token-table.ts';

it('removes what devices of a node offered once the node is gone, and frees the names', async () => {
  const { open } = await sharedStores(18);
  const [a, b] = [(await open()).store, (await open()).store];
  await a.saveTools([aTool('camera.take')], anEntry(), [], true);
  const { revision, tools } = await b.changes(0);
  expect(tools).toMatchObject([{ name: 'camera.take', isOnlineElsewhere: true }]);
  await a.close();
  await waitFor(async () => expect((await b.changes(revision)).tools).toMatchObject([{ tool: null }]));
  expect(await b.saveTools([aTool('camera.take', { clientId: 'phone-2' })], anEntry(), [], true)).toEqual([]);
});

it('has tokens that any node accepts, and one node spends', async () => {
  const { open } = await sharedStores(15);
  const [a, b] = [(await open()).store.tokens!, (await open()).store.tokens!];
  await a.put('login', 'secret', '{"n":1}', 60_000);
  expect(await b.find('login', 'secret')).toBe('{"n":1}');
  expect(await b.find('ticket', 'secret')).toBeNull();
  const spent = await Promise.all([a, b, a, b].map(async (tokens) => await tokens.spend('login', 'secret')));
  expect(spent.filter((value) => value !== null)).toEqual(['{"n":1}']);
  await a.put('ticket', 'late', '1', 0);
  expect([await b.find('ticket', 'late'), await b.spend('ticket', 'late')]).toEqual([null, null]);
  await a.put('mcp_session', 's', '1', 60_000);
  await b.put('mcp_session', 's', '2', 60_000);
  expect(await a.find('mcp_session', 's')).toBe('2');
});

it('stores hashes of secrets, and cleans expired tokens and those beyond the capacity', async () => {
  const database = await aDatabase(18);
  const { tables } = database;
  const tokens = new TokenTable({ connection: database.connect('tokens'), tables, digest });
  await tokens.put('login', 'secret', '1', 60_000);
  await tokens.put('ticket', 'late', '1', 0);
  await tokens.clean();
  expect(await database.rows(`select kind, sha256 from ${tables.tokens}`)).toEqual([
    { kind: 'login', sha256: digest.sha256('secret') },
  ]);
  await database.rows(`insert into ${tables.tokens} select 'login', 'h' || n, '1', expires_at + n
    from ${tables.tokens}, generate_series(1, 1000) n returning kind`);
  await tokens.clean();
  expect(await tokens.find('login', 'secret')).toBeNull();
  expect(await database.rows(`select count(*)::int as count from ${tables.tokens}`)).toEqual([
    { count: 1000 },
  ]);
});

it('forgets removals of more than a day ago', async () => {
  const database = await aDatabase(18);
  const { tables, reader } = database;
  const revisions = new Revisions(tables);
  for (const id of ['old', 'new']) await revisions.removed(reader, { kind: 'key', tenant: '', id }, 1);
  await database.rows(
    `update ${tables.removals} set removed_at = removed_at - 86400001 where id = 'old' returning id`,
  );
  await revisions.clean(reader, 86_400_000);
  expect(await database.rows(`select id from ${tables.removals}`)).toEqual([{ id: 'new' }]);
});
