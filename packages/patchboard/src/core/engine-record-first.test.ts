import type { ToolAnnotations } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { StorageFull } from './failures.ts';
import type { Inserted, Store } from './ports.ts';

const DECLARED: readonly ToolAnnotations[] = [{}, { readonly: true }, { readonly: true, idempotent: true }];

/** A store whose first commit of a call ends when the test says so. */
function heldStore(): { store: Store; commit: () => void; refuse: () => void } {
  const memory = memoryStore({ digest: nodeDigest });
  let commit = (): void => {};
  let refuse = (): void => {};
  const store = new Proxy(memory, {
    get: (target, name) => {
      const member = Reflect.get(target, name) as unknown;
      if (name !== 'insertCall') return typeof member === 'function' ? member.bind(target) : member;
      return (record: Parameters<Store['insertCall']>[0]) =>
        new Promise<Inserted>((resolve, reject) => {
          commit = () => resolve(target.insertCall(record));
          refuse = () => reject(new StorageFull());
        });
    },
  });
  return { store, commit: () => commit(), refuse: () => refuse() };
}

async function aHeldCall(annotations: ToolAnnotations) {
  const held = heldStore();
  let runs = 0;
  const tool = aServerTool({ name: 'toy.look', annotations, execute: () => (runs += 1) });
  const { engine } = await anEngine({ tools: [tool], store: held.store });
  const submitting = engine.submit(aRequest({ toolName: 'toy.look' }), aPrincipal());
  await settled();
  return { ...held, submitting, runs: () => runs };
}

describe.each(DECLARED)('a tool that declares %j', (annotations) => {
  it('starts after its call is recorded', async () => {
    const { submitting, commit, runs } = await aHeldCall(annotations);
    expect(runs()).toBe(0);
    commit();
    await submitting;
    await settled();
    expect(runs()).toBe(1);
  });

  it('does not run if its call cannot be recorded', async () => {
    const { submitting, refuse, runs } = await aHeldCall(annotations);
    refuse();
    await expect(submitting).rejects.toThrow(StorageFull);
    await settled();
    expect(runs()).toBe(0);
  });
});
