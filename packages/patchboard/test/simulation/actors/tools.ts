import { failure, foreignText, ToolFailure } from '../../../src/core/failures.ts';
import type { ServerTool, ToolContext } from '../../../src/core/tools/server-tool.ts';
import type { SimulatedProcess } from '../simulated-process.ts';
import type { World } from '../world.ts';

/** The arguments of every simulated server tool. */
export interface ToolArgs {
  /** Different in every request. */
  readonly n: number;
  /** How long the tool takes; 0: it returns synchronously. */
  readonly ms: number;
  /** How it ends. `transient`: fails on the first attempt only. */
  readonly ends: 'ok' | 'fails' | 'transient';
}

interface ToolKind {
  readonly name: string;
  readonly timeoutMs: number;
  readonly annotations: ServerTool['annotations'];
  /** It goes on when its call is stopped. */
  readonly ignoresAborts?: true;
  readonly concurrency?: number;
}

export const TOOLS: readonly ToolKind[] = [
  { name: 'server.plain', timeoutMs: 2000, annotations: {} },
  { name: 'server.idempotent', timeoutMs: 3000, annotations: { idempotent: true } },
  { name: 'server.single', timeoutMs: 1500, annotations: {}, concurrency: 1 },
  { name: 'server.stubborn', timeoutMs: 1000, annotations: {}, ignoresAborts: true },
  { name: 'server.risky', timeoutMs: 2000, annotations: { destructive: true } },
];

/** Of several nodes: one tool has more time than the lease of a node, so that its calls outlive a takeover. */
export const SHARED_TOOLS: readonly ToolKind[] = [
  ...TOOLS,
  { name: 'server.patient', timeoutMs: 10_000, annotations: {} },
];

const SCHEMA = {
  type: 'object',
  properties: { n: { type: 'integer' }, ms: { type: 'number' }, ends: { type: 'string' } },
  required: ['n', 'ms', 'ends'],
};

/** The server tools as version `packVersion` of their pack has them: each version has another contract. */
export function serverTools(world: World, process: SimulatedProcess, packVersion: number): ServerTool[] {
  return SHARED_TOOLS.map(({ name, timeoutMs, annotations, concurrency = null, ignoresAborts = false }) => ({
    name,
    description: `version ${packVersion}`,
    inputSchema: { ...SCHEMA, title: `version ${packVersion}` },
    outputSchema: null,
    timeoutMs,
    annotations,
    metadata: null,
    concurrency,
    execute: (given, context) => {
      const args = given as ToolArgs;
      const { callId, attempt } = context;
      const effect = { tool: name, callId, attempt, args };
      world.effects.begin(process, effect);
      if (args.ms > 0) return work(world, process, effect, context, ignoresAborts);
      world.effects.act(process, effect);
      return ending(args, attempt);
    },
  }));
}

async function work(
  world: World,
  process: SimulatedProcess,
  effect: { tool: string; callId: string; attempt: number; args: ToolArgs },
  context: ToolContext,
  ignoresAborts: boolean,
): Promise<unknown> {
  const { args, attempt } = effect;
  const signal = ignoresAborts ? null : context.signal;
  await pause(world, process, args.ms / 2, signal);
  world.effects.act(process, effect);
  context.progress({ half: args.n });
  await pause(world, process, args.ms / 2, signal);
  return ending(args, attempt);
}

function ending({ n, ends }: ToolArgs, attempt: number): unknown {
  if (ends === 'fails') throw new Error(`tool ${n} fails`);
  if (ends === 'transient' && attempt === 1)
    throw new ToolFailure(failure('upstream_unreachable', foreignText('again'), { outcome: 'unknown' }));
  return { n };
}

/** Resolves after `ms`; rejects when the signal aborts. */
function pause(
  { kernel }: World,
  process: SimulatedProcess,
  ms: number,
  signal: AbortSignal | null,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      disarm();
      reject(new Error('the tool was aborted'));
    };
    const done = (): void => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    };
    // Not a timer of the process: those are counted, and a tool that ignores aborts may still wait at the end.
    const disarm = kernel.after(ms, () => process.enter(done));
    signal?.addEventListener('abort', aborted, { once: true });
    if (signal?.aborted === true) aborted();
  });
}
