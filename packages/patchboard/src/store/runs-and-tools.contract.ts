import { describe, expect, it } from 'vitest';
import type { Subject } from './store.contract.ts';
import { START, aRun, aTool, anEntry } from './samples.contract.ts';

export function describeRunsAndTools(subject: Subject): void {
  describe('a run', () => {
    it('is created once; a second creation returns the existing run and writes nothing', async () => {
      const { store } = subject;
      const run = aRun();
      const other = aRun({ agentId: 'agent-2', createdAt: START + 5 });
      const results = await Promise.all([store.ensureRun(run, anEntry()), store.ensureRun(other, anEntry())]);
      expect(results).toEqual([run, run]);
      expect(await store.findRun('acme', 'run_1')).toEqual(run);
      expect((await store.ledgerHead()).seq).toBe(1);
    });

    it('is cancelled once, in the tenant it belongs to', async () => {
      const { store } = subject;
      await store.ensureRun(aRun(), anEntry());
      expect(await store.cancelRun('other', 'run_1', START + 1, anEntry())).toBe(false);
      const results = await Promise.all(
        [1, 2, 3].map((ms) => store.cancelRun('acme', 'run_1', START + ms, anEntry())),
      );
      expect(results).toEqual([true, false, false]);
      expect(await store.findRun('acme', 'run_1')).toEqual(aRun({ cancelledAt: START + 1 }));
      expect(await store.ensureRun(aRun(), anEntry())).toEqual(aRun({ cancelledAt: START + 1 }));
      expect((await store.ledgerHead()).seq).toBe(2);
    });

    it('is not found under an unknown id', async () => {
      expect(await subject.store.findRun('acme', 'run_1')).toBeUndefined();
    });
  });

  describe('tools', () => {
    it('are added, replaced by name within a tenant, and removed', async () => {
      const { store } = subject;
      const full = aTool('camera.take', {
        spec: { name: 'camera.take', schema: { type: 'object' }, description: '拍照', timeout_ms: 5 },
      });
      const elsewhere = aTool('camera.take', { tenant: 'other', clientId: 'phone-9' });
      await store.saveTools([aTool('camera.take'), aTool('notes.add'), elsewhere], anEntry());
      await store.saveTools([full], anEntry());
      expect(sorted(await store.tools())).toEqual(sorted([full, aTool('notes.add'), elsewhere]));
      await store.removeTools(
        [
          { tenant: 'acme', name: 'camera.take' },
          { tenant: 'acme', name: 'never.was' },
        ],
        anEntry(),
      );
      expect(sorted(await store.tools())).toEqual(sorted([aTool('notes.add'), elsewhere]));
      expect((await store.ledgerHead()).seq).toBe(3);
    });

    it('are not saved, none of them, if another client of the tenant holds one of the names', async () => {
      const { store } = subject;
      const held = aTool('camera.take', { clientId: 'phone-9' });
      expect(await store.saveTools([held, aTool('lamp.on', { clientId: 'phone-9' })], anEntry())).toEqual([]);
      const document = { kind: 'risk', id: 'acme notes.add', body: '{}' } as const;
      const mine = ['notes.add', 'camera.take', 'lamp.on'].map((name) => aTool(name));
      expect(await store.saveTools(mine, anEntry(), [document])).toEqual(['camera.take', 'lamp.on']);
      expect(await store.saveTools([aTool('camera.take', { tenant: 'other' })], anEntry())).toEqual([]);
      expect((await store.tools()).map(({ tenant, clientId }) => `${tenant} ${clientId}`).toSorted()).toEqual(
        ['acme phone-9', 'acme phone-9', 'other phone-1'],
      );
      expect(await store.documents('risk')).toEqual([]);
      expect((await store.ledgerHead()).seq).toBe(2);
    });
  });
}

export function describeDocuments(subject: Subject): void {
  describe('documents', () => {
    it('are added, replaced and deleted by kind and id, each with its ledger rows', async () => {
      const { store } = subject;
      await store.putDocument('key', 'b', '{"n":1}', [anEntry()]);
      await store.putDocument('key', 'a', '{"n":2}', [anEntry()]);
      await store.putDocument('grant', 'a', '{"n":3}', [anEntry(), anEntry()]);
      await store.putDocument('key', 'b', '{"n":4}', [anEntry()]);
      expect(await store.documents('key')).toEqual([
        { id: 'a', body: '{"n":2}' },
        { id: 'b', body: '{"n":4}' },
      ]);
      expect(await store.document('key', 'b')).toBe('{"n":4}');
      await store.deleteDocument('key', 'a', [anEntry()]);
      expect(await store.document('key', 'a')).toBeUndefined();
      expect(await store.document('grant', 'b')).toBeUndefined();
      expect(await store.documents('key')).toEqual([{ id: 'b', body: '{"n":4}' }]);
      expect(await store.documents('grant')).toEqual([{ id: 'a', body: '{"n":3}' }]);
      expect(await store.documents('policy')).toEqual([]);
      expect((await store.ledgerHead()).seq).toBe(6);
    });

    it('are added once: the others write nothing', async () => {
      const { store } = subject;
      const added = await Promise.all(
        [1, 2, 3].map((n) => store.addDocument('policy', 'acme 1', `{"n":${n}}`, [anEntry()])),
      );
      expect(added.filter(Boolean)).toHaveLength(1);
      expect(await store.document('policy', 'acme 1')).toBe(`{"n":${added.indexOf(true) + 1}}`);
      expect(await store.addDocument('policy', 'acme 2', '{}', [anEntry()])).toBe(true);
      expect(await store.addDocument('grant', 'acme 1', '{}', [anEntry()])).toBe(true);
      expect((await store.ledgerHead()).seq).toBe(3);
    });

    it('are written and deleted together with another one', async () => {
      const { store } = subject;
      await store.putDocument('grant', 'old', '{}', []);
      await store.putDocument(
        'key',
        'a',
        '{"n":1}',
        [anEntry()],
        [
          { kind: 'local_mode', id: 'ended', body: '{}' },
          { kind: 'grant', id: 'old', body: null },
        ],
      );
      expect(await store.documents('key')).toEqual([{ id: 'a', body: '{"n":1}' }]);
      expect(await store.documents('local_mode')).toEqual([{ id: 'ended', body: '{}' }]);
      expect(await store.documents('grant')).toEqual([]);
      expect((await store.ledgerHead()).seq).toBe(1);
    });

    it('are written and deleted together with tools', async () => {
      const { store } = subject;
      const risk = { kind: 'risk', id: 'acme camera.take', body: '{"destructive":true}' } as const;
      await store.saveTools([aTool('camera.take')], anEntry(), [risk]);
      expect(await store.documents('risk')).toEqual([{ id: risk.id, body: risk.body }]);
      const keys = [{ tenant: 'acme', name: 'camera.take' }];
      await store.removeTools(keys, anEntry(), [{ ...risk, body: null }]);
      expect(await store.documents('risk')).toEqual([]);
      expect((await store.ledgerHead()).seq).toBe(2);
    });
  });
}

function sorted<T>(values: readonly T[]): string[] {
  return values.map((value) => JSON.stringify(value)).sort();
}
