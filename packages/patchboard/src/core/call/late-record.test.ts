import { expect, it } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest, manualTool } from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import { twoNodes } from '../../../test/support/two-nodes.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../ports.ts';
import type { Call } from './call.ts';

const me = aPrincipal();

it('holds a call once if it is taken back from another node before the result of its first commit arrives', async () => {
  const shared = memoryStore({ digest: nodeDigest });
  const { a, b } = twoNodes(shared);
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const late: Store['insertCall'] = async (record) => {
    const inserted = await a.store.insertCall(record);
    await arrived;
    return inserted;
  };
  const store = new Proxy(a.store, {
    get: (target, name) => (name === 'insertCall' ? late : (Reflect.get(target, name) as unknown)),
  });
  const { tool, running } = manualTool('work', { annotations: { idempotent: true }, concurrency: 1 });
  const { engine } = await anEngine({ tools: [tool], store, peers: a.peers });
  const submitting = engine.submit(aRequest({ toolName: 'work' }), me);
  await settled();
  const [stored] = (await shared.listCalls({ tenant: 'default' }, null, 1)).items;
  // The other node takes the call, because it is overdue, and this one takes it back.
  const taken: Call = { ...stored!, version: stored!.version + 1 };
  await b.store.replaceCall(taken, stored!.version, []);
  const back: Call = { ...taken, version: taken.version + 1 };
  await a.store.replaceCall(back, taken.version, []);
  await a.peers.orphaned(each([back]));
  await settled();
  arrive();
  const { id } = accepted(await submitting);
  await settled();
  expect(engine.load()).toMatchObject({ open: 1, executing: 1 });
  running.get(id)!.resolve('done');
  await settled();
  expect((await shared.findCall(id))?.state.name).toBe('COMPLETED');
  expect(engine.load()).toMatchObject({ open: 0, executing: 0, waitingForSlot: 0 });
});

async function* each(calls: readonly Call[]): AsyncGenerator<Call> {
  yield* calls;
}
