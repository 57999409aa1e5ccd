import type { ToolSpec } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { anEngine, aServerTool, type EngineFixture } from '../../../test/support/an-engine.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { plainRow } from '../ledger/ledger.ts';
import { SimilarNames } from './similar-names.ts';

const T = 'default';
const aSpec = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({ name, schema: {}, ...more });

async function rejections(
  { engine }: EngineFixture,
  clientId: string,
  names: readonly string[],
): Promise<unknown[]> {
  const { rejected } = await engine.clientTools.register(
    T,
    clientId,
    names.map((name) => aSpec(name)),
  );
  return rejected.map(({ name, code }) => [name, code]);
}

describe('a new name', () => {
  const SIMILAR = ['Weather.Query', 'weather_query', 'weatherQuery', '_weather.query', 'WEATHER..QUERY'];

  it('is refused if it differs from that of a server tool only in case, dots or underscores', async () => {
    const fixture = await anEngine({ tools: [aServerTool({ name: 'weather.query' })] });
    expect(await rejections(fixture, 'phone', SIMILAR)).toEqual(SIMILAR.map((name) => [name, 'name_taken']));
    const { rejected } = await fixture.engine.clientTools.register(T, 'phone', [aSpec('weather_query')]);
    expect(rejected[0]?.reason).toBe(
      'the name differs from that of the tool weather.query only in case, dots or underscores; choose another',
    );
  });

  it('is refused if it differs only so from another tool of the tenant, of the same or another client', async () => {
    const fixture = await anEngine({});
    expect(await rejections(fixture, 'phone', ['door.open'])).toEqual([]);
    for (const client of ['phone', 'tablet'])
      expect(await rejections(fixture, client, ['Door_Open'])).toEqual([['Door_Open', 'name_taken']]);
    expect(await rejections(fixture, 'watch', ['lamp', 'LAMP'])).toEqual([['LAMP', 'name_taken']]);
    const other = await fixture.engine.clientTools.register('acme', 'phone', [aSpec('Door_Open')]);
    expect(other.rejected).toEqual([]);
    await fixture.engine.clientTools.unregister(T, 'phone', 'door.open');
    expect(await rejections(fixture, 'tablet', ['Door_Open'])).toEqual([]);
  });

  it('is accepted if it differs in anything else', async () => {
    const fixture = await anEngine({ tools: [aServerTool({ name: 'weather.query' })] });
    const names = ['weather-query', 'weather.query2', 'cell_1_12', 'cell_11_2', 'v1.2', 'v12', 'weather'];
    expect(await rejections(fixture, 'phone', names)).toEqual([]);
  });
});

describe('a name that was stored before there was such a rule', () => {
  it('stays, and its client registers it again', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const names = ['HostOriginGuard.Open', 'door_open', 'door.open', 'Weather_Query'];
    const stored = names.map((name, index) => {
      return { tenant: T, clientId: 'phone', wireName: `wire_${index}`, spec: aSpec(name), registeredAt: 1 };
    });
    await store.saveTools(stored, plainRow('registry.changed', T, 1, {}));
    const fixture = await anEngine({ store, tools: [aServerTool({ name: 'weather.query' })] });
    const there = fixture.engine.toolIndex.ofClient(T, 'phone').map(({ name }) => name);
    expect(there.toSorted()).toEqual(names.toSorted());
    expect(await rejections(fixture, 'phone', names)).toEqual([]);
    expect(await rejections(fixture, 'phone', ['DOOR_OPEN'])).toEqual([['DOOR_OPEN', 'name_taken']]);
  });
});

describe('line breaks of Windows in a description', () => {
  it('are read as plain ones, and the contract hash stays the same', async () => {
    const fixture = await anEngine({});
    const windows = aSpec('door.open', { description: 'one\r\ntwo' });
    const { registered } = await fixture.engine.clientTools.register(T, 'phone', [windows]);
    expect(registered[0]?.description).toBe('one\ntwo');
    const canonical =
      '{"annotations":{},"description":"one\\r\\ntwo","inputSchema":{},"name":"door.open","outputSchema":null}';
    expect(registered[0]?.version).toBe(nodeDigest.sha256(canonical));
    const again = await anEngine({ store: fixture.store });
    expect(again.engine.toolIndex.find(T, 'door.open')).toMatchObject({
      description: 'one\ntwo',
      version: registered[0]?.version,
    });
  });
});

describe('SimilarNames', () => {
  it('forgets what was removed, and finds no name similar to itself', () => {
    const names = new SimilarNames();
    names.add('a.b');
    names.add('A_B');
    expect([names.similarTo('a.b'), names.similarTo('ab')]).toEqual(['A_B', 'a.b']);
    names.remove('A_B');
    names.remove('A_B');
    expect([names.similarTo('a.b'), names.similarTo('ab')]).toEqual([undefined, 'a.b']);
    names.remove('a.b');
    expect(names.similarTo('ab')).toBeUndefined();
  });
});
