import type { Engine } from '../../src/core/engine.ts';
import { messageOf } from '../../src/core/failures.ts';
import type { MaybePromise } from '../../src/core/maybe-promise.ts';
import type { Kernel } from './kernel.ts';
import type { Profile } from './profile.ts';
import type { Random, Stream } from './random.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export type Reply<Value> =
  | { readonly kind: 'reply'; readonly value: Value }
  /** The engine threw. */
  | { readonly kind: 'error'; readonly name: string; readonly message: string }
  /** The request did not reach a node. */
  | { readonly kind: 'refused' }
  /** There is no response; the request may have been executed, or will be. */
  | { readonly kind: 'lost' };

/** What a request does inside the node. `gone` aborts when the caller has closed its connection. */
export type Operation<Value> = (engine: Engine, gone: AbortSignal) => MaybePromise<Value>;

/** A node as a caller reaches it. */
export interface Reachable {
  readonly process: SimulatedProcess | null;
  /** Null until the engine has started. */
  readonly engine: Engine | null;
}

/** Requests between callers and nodes: they take time, and they or their responses are lost. */
export class SimulatedNetwork {
  readonly #kernel: Kernel;
  readonly #random: Random;
  readonly #profile: Profile;
  #loss: number;

  constructor(kernel: Kernel, random: Random, profile: Profile) {
    this.#kernel = kernel;
    this.#random = random;
    this.#profile = profile;
    this.#loss = profile.networkLoss;
  }

  /** From now on no message is lost. */
  heal(): void {
    this.#loss = 0;
  }

  /** Sends a request of `from`. The caller closes the connection after `giveUpMs`. */
  request<Value>(
    from: string,
    node: Reachable,
    giveUpMs: number,
    operation: Operation<Value>,
  ): Promise<Reply<Value>> {
    const stream = this.#random.of('network', from);
    const [out, back] = [this.#delay(stream), this.#delay(stream)];
    const [isLost, isResponseLost] = [this.#isLost(stream), this.#isLost(stream)];
    return new Promise((resolve) => {
      const gone = new AbortController();
      let process: SimulatedProcess | null = null;
      const giveUp = this.#kernel.after(giveUpMs, () => {
        resolve({ kind: 'lost' });
        process?.enter(() => gone.abort());
      });
      const settle = (reply: Reply<Value>): void => {
        giveUp();
        resolve(reply);
      };
      const respond = (reply: Reply<Value>): void => {
        if (!isResponseLost) this.#kernel.after(back, () => settle(reply));
      };
      if (isLost) return;
      this.#kernel.after(out, () => {
        const { engine } = node;
        process = node.process;
        if (process === null || process.isDead || engine === null) return settle({ kind: 'refused' });
        // The kernel of the machine resets the connections of a process that was killed.
        process.onKilled(() => void this.#kernel.after(back, () => settle({ kind: 'lost' })));
        process.enter(() => void run(operation, engine, gone.signal).then(respond));
      });
    });
  }

  #delay(stream: Stream): number {
    return stream.delay(0.05, this.#profile.networkDelayMs);
  }

  #isLost(stream: Stream): boolean {
    return stream.chance(this.#loss / 2);
  }
}

async function run<Value>(
  operation: Operation<Value>,
  engine: Engine,
  gone: AbortSignal,
): Promise<Reply<Value>> {
  try {
    return { kind: 'reply', value: await operation(engine, gone) };
  } catch (error) {
    return {
      kind: 'error',
      name: error instanceof Error ? error.name : 'unknown',
      message: messageOf(error),
    };
  }
}
