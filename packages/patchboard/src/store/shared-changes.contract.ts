import { describe, expect, it } from 'vitest';
import type { Store } from '../core/ports.ts';
import type { StoreChanges } from '../core/store-changes.ts';
import { aTool, anEntry } from './samples.contract.ts';
import type { TwoStores } from './two-nodes.contract.ts';

/** The contract of revisions: `a` and `b` are the stores of two nodes over the same data. */
export function describeSharedChanges(subject: () => Pick<TwoStores, 'a' | 'b'>): void {
  const changesOf = async (store: Store, after: number): Promise<StoreChanges> =>
    (await store.changes?.(after)) ?? expect.fail('the store has no changes');

  describe('changes of the other node', () => {
    it('are read after a revision: the present state of each document, and what was deleted', async () => {
      const { a, b } = subject();
      const start = (await changesOf(b, 0)).revision;
      await a.putDocument('key', 'k1', '{"n":1}', [anEntry()]);
      await a.putDocument('key', 'k1', '{"n":2}', [], [{ kind: 'grant', id: 'g1', body: '{}' }]);
      const first = await changesOf(b, start);
      expect(first.documents.toSorted(byId)).toEqual([
        { kind: 'grant', id: 'g1', body: '{}' },
        { kind: 'key', id: 'k1', body: '{"n":2}' },
      ]);
      expect(first.revision).toBeGreaterThan(start);
      await b.deleteDocument('key', 'k1', []);
      expect(await a.addDocument('policy', 'acme 1', '{"p":1}', [])).toBe(true);
      expect(await b.addDocument('policy', 'acme 1', '{"p":2}', [])).toBe(false);
      const second = await changesOf(a, first.revision);
      expect(second.documents.toSorted(byId)).toEqual([
        { kind: 'policy', id: 'acme 1', body: '{"p":1}' },
        { kind: 'key', id: 'k1', body: null },
      ]);
      expect(await changesOf(b, second.revision)).toMatchObject({ documents: [], tools: [] });
    });

    it.each(['todo', 'key_use'] as const)(
      'are not documents of the kind %s, which each node reads where it needs them',
      async (kind) => {
        const { a, b } = subject();
        const { revision } = await changesOf(b, 0);
        await a.putDocument(kind, 't1', '{}', []);
        await a.deleteDocument(kind, 't1', []);
        expect(await changesOf(b, revision)).toEqual({ revision, documents: [], tools: [] });
      },
    );

    it('that were deleted and stored again are reported once, as stored', async () => {
      const { a, b } = subject();
      await a.putDocument('key', 'k1', '{"n":1}', []);
      const { revision } = await changesOf(b, 0);
      await a.deleteDocument('key', 'k1', []);
      await b.addDocument('key', 'k1', '{"n":2}', []);
      expect((await changesOf(a, revision)).documents).toEqual([{ kind: 'key', id: 'k1', body: '{"n":2}' }]);
    });

    it('are never missed: a reader that goes on from each revision sees every key of two writers', async () => {
      const { a, b } = subject();
      let revision = 0;
      const seen = new Set<string>();
      let isWriting = true;
      const reading = (async () => {
        for (let isLast = false; !isLast;) {
          isLast = !isWriting;
          const changes = await changesOf(b, revision);
          for (const { id } of changes.documents) seen.add(id);
          revision = changes.revision;
        }
      })();
      const write = async (store: Store, name: string): Promise<void> => {
        for (let n = 0; n < 25; n += 1) await store.putDocument('key', `${name}${n}`, '{}', []);
      };
      await Promise.all([write(a, 'a'), write(b, 'b')]);
      isWriting = false;
      await reading;
      expect(seen.size).toBe(50);
    });

    it('distribute a change before its promise resolves', async () => {
      const { a } = subject();
      const distributed: number[] = [];
      a.onChanged?.(async (revision) => {
        await Promise.resolve();
        distributed.push(revision);
      });
      await a.putDocument('key', 'k1', '{}', []);
      expect(distributed).toEqual([(await changesOf(a, 0)).revision]);
      await a.putDocument('todo', 't1', '{}', []);
      expect(distributed).toHaveLength(1);
    });
  });

  describe('tools of the other node', () => {
    const name = { tenant: 'acme', name: 'camera.take' };

    it('are kept if they were registered over HTTP, and removed with their offers', async () => {
      const { a, b } = subject();
      const tool = aTool('camera.take');
      await a.saveTools([tool], anEntry());
      const first = await changesOf(b, 0);
      expect(first.tools).toEqual([{ ...name, tool, isKept: true, isOnlineElsewhere: false }]);
      await a.saveTools([tool], anEntry(), [], true);
      expect((await changesOf(b, first.revision)).tools).toEqual([
        { ...name, tool, isKept: true, isOnlineElsewhere: true },
      ]);
      expect((await changesOf(a, first.revision)).tools).toMatchObject([{ isOnlineElsewhere: false }]);
      const { revision } = await changesOf(b, 0);
      await b.removeTools([name], anEntry());
      expect((await changesOf(a, revision)).tools).toEqual([
        { ...name, tool: null, isKept: false, isOnlineElsewhere: false },
      ]);
    });

    it('are online as long as a device at some node offers them, and are not stored', async () => {
      const { a, b } = subject();
      const tool = aTool('camera.take');
      expect(await a.saveTools([tool], anEntry(), [], true)).toEqual([]);
      expect(await b.saveTools([tool], anEntry(), [], true)).toEqual([]);
      expect(await a.tools()).toEqual([]);
      const { revision } = await changesOf(b, 0);
      await a.removeTools([name], anEntry(), [], true);
      const after = await changesOf(b, revision);
      expect(after.tools).toEqual([{ ...name, tool, isKept: false, isOnlineElsewhere: false }]);
      await b.removeTools([name], anEntry(), [], true);
      expect((await changesOf(a, after.revision)).tools).toMatchObject([{ ...name, tool: null }]);
    });

    it('have a name of one client, also if another node registers it at the same time', async () => {
      const { a, b } = subject();
      for (const [index, isOnline] of [true, false, true, false].entries()) {
        const saves = [a, b].map((store, n) =>
          store.saveTools([aTool(`tool.${index}`, { clientId: `phone-${n}` })], anEntry(), [], isOnline),
        );
        expect((await Promise.all(saves)).flat()).toEqual([`tool.${index}`]);
        const { tools } = await changesOf(a, 0);
        expect(tools.filter((change) => change.name === `tool.${index}`)).toHaveLength(1);
      }
    });
  });
}

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}
