import type { SimulatedClient } from './simulated-client.ts';
import type { Incarnation } from './simulated-node.ts';
import type { World } from './world.ts';

interface StreamRequest {
  readonly step: string;
  readonly node: number;
  /** In simulated time. */
  readonly untilMs: number;
}

const RECONNECT_MS = 300;

/** A client that has its calls sent to it over a stream. When a node ends the stream, it turns to the next one. */
export async function streamCalls(
  world: World,
  client: SimulatedClient,
  { step, node: first, untilMs }: StreamRequest,
): Promise<void> {
  const { kernel } = world;
  await client.register(step, first);
  for (let node = first; kernel.now < untilMs; node += 1) {
    const { process, engine } = world.node(node);
    if (process !== null && engine !== null && !process.isDead)
      await stream(world, client, { step, node, untilMs }, { process, engine });
    await kernel.sleep(Math.min(RECONNECT_MS, Math.max(0, untilMs - kernel.now)));
  }
}

/** One connection. Resolves when it is over. */
async function stream(
  world: World,
  client: SimulatedClient,
  { step, node, untilMs }: StreamRequest,
  { process, engine }: Pick<Incarnation, 'process' | 'engine'>,
): Promise<void> {
  const { kernel, history, profile } = world;
  const delays = world.random.of('stream', step);
  const delay = (): number => delays.delay(0.05, profile.networkDelayMs);
  const name = `${step} ${process.name}`;
  let detach: (() => void) | null = null;
  let isOver = false;
  kernel.after(delay(), () =>
    process.enter(() => {
      if (isOver) return;
      history.add(name, 'stream begins', { node: process.node });
      detach = engine.clientQueues.attach('default', client.id, {
        deliver: (call) => {
          history.add(name, 'delivered', { call: call.id, node: process.node });
          kernel.after(delay(), () => {
            if (!isOver) client.take(step, node, call);
          });
        },
        withdraw: () => {},
      });
    }),
  );
  await new Promise<void>((resolve) => {
    kernel.after(untilMs - kernel.now, resolve);
    process.onKilled(resolve);
    // A node that was taken over closes its connections.
    engine.onFenced(() => resolve());
  });
  isOver = true;
  history.add(name, 'stream ends', { node: process.node });
  process.enter(() => detach?.());
}
