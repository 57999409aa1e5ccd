import type { Call } from '../../src/core/call/call.ts';
import type { Engine } from '../../src/core/engine.ts';
import type { Store } from '../../src/core/ports.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { accepted, anEngine, aRequest } from './an-engine.ts';
import { me } from './asking-tools.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { severalNodes, type TestPeers } from './two-nodes.ts';

export interface EngineNode {
  readonly engine: Engine;
  readonly peers: TestPeers;
  /** Ids of the calls whose end this node counted. */
  readonly ended: string[];
}

export interface EngineNodes {
  readonly nodes: readonly EngineNode[];
  readonly a: EngineNode;
  readonly b: EngineNode;
  readonly store: Store;
  readonly clock: FakeClock;
  /** Lets notifications take effect; if all are lost, each node polls the store instead. */
  readonly heal: () => Promise<void>;
  /** The name of the stored state. */
  readonly stateOf: (call: Pick<Call, 'id'>) => Promise<string>;
}

type Given = Omit<Parameters<typeof anEngine>[0], 'store' | 'peers' | 'clock'>;

/** Several engines over one store. `given`: of each node by its index, or the same for all. */
export async function engineNodes(
  given: Given | ((index: number) => Given),
  { count = 2, notifies = true }: { count?: number; notifies?: boolean } = {},
): Promise<EngineNodes> {
  const store = memoryStore({ digest: nodeDigest });
  const clock = new FakeClock();
  const nodes: EngineNode[] = [];
  for (const [index, node] of severalNodes(store, count).entries()) {
    node.peers.notifies = notifies;
    const of = typeof given === 'function' ? given(index) : given;
    const { engine } = await anEngine({ ...of, clock, ...node });
    const ended: string[] = [];
    engine.onEnded(({ id }) => ended.push(id));
    nodes.push({ engine, peers: node.peers, ended });
  }
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error('at least two nodes');
  const heal = async (): Promise<void> => {
    await settled();
    if (!notifies) for (const { peers } of nodes) await peers.poll();
    await settled();
  };
  const stateOf = async ({ id }: Pick<Call, 'id'>): Promise<string> => {
    await settled();
    return (await store.findCall(id))?.state.name ?? 'missing';
  };
  return { nodes, a, b, store, clock, heal, stateOf };
}

/** Submits a call to a node and lets it begin. */
export async function submitTo(
  { engine }: EngineNode,
  request: Parameters<typeof aRequest>[0],
  principal = me,
): Promise<Call> {
  const call = accepted(await engine.submit(aRequest(request), principal));
  await settled();
  return call;
}
