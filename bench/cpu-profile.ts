import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** What Node writes with `--cpu-prof`. Times are in microseconds of the system's monotonic clock. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  /** Ids of nodes. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** Where CPU time goes, in the order of the report; the first pattern that matches the URL of a function counts. */
const PARTS: readonly (readonly [part: string, url: RegExp])[] = [
  [
    "Node's HTTP, sockets, timers, promises",
    /^node:(_http|http|net|_?stream|events|timers|internal\/(http|stream|net|timers|process|async|promise|js_stream|event_target|abort))/,
  ],
  ['Fastify', /node_modules\/(@?fastify|find-my-way|light-my-request|avvio|secure-json-parse)/],
  ['ws', /node_modules\/ws\//],
  ['SDK of MCP, zod', /node_modules\/(@modelcontextprotocol|zod)\//],
  ['log', /node_modules\/(pino|sonic-boom|quick-format-unescaped)|\/src\/runtime\/log/],
  ['hashes', /^node:internal\/crypto|\/src\/runtime\/digest/],
  ['APIs, identity, protocols', /\/patchboard\/src\/(transports|identity|protocols)\//],
  ['JSON and schemas', /\/src\/(core\/json|json|schemas)\//],
  ['rows for the index of calls', /^node:internal\/worker|\/src\/(core\/search|store\/sqlite\/search)\//],
  ['store, with SQLite', /\/src\/store\//],
  ['engine', /\/src\/(core|runtime|wiring|board|sdk|settings)\/|\/wire\/src\//],
];
const GARBAGE = 'garbage collection';
/** Native code without a function of JavaScript: system calls of the event loop, the compiler. */
const PROGRAM = 'native code of Node and V8';
const OTHER = 'other';
export const PART_NAMES: readonly string[] = [...PARTS.map(([part]) => part), GARBAGE, PROGRAM, OTHER];

const OF_NAME: Readonly<Record<string, string | null>> = {
  '(idle)': null,
  '(garbage collector)': GARBAGE,
  '(program)': PROGRAM,
};

/** The profile of the main thread, from the folder that a process wrote its profiles to. */
export async function mainThreadProfile(folder: string): Promise<CpuProfile> {
  const names = await readdir(folder);
  // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile
  const name = names.find((file) => file.endsWith('.cpuprofile') && file.split('.')[4] === '0');
  if (name === undefined) throw new Error(`no profile of a main thread in ${folder}`);
  return JSON.parse(await readFile(join(folder, name), 'utf8')) as CpuProfile;
}

/** Microseconds by part between two times of the monotonic clock, without the time in which the thread was idle. */
export function timeByPart(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  fromUs: number,
  toUs: number,
): ReadonlyMap<string, number> {
  const parts = partsOf(nodes);
  const times = new Map<string, number>(PART_NAMES.map((part) => [part, 0]));
  let at = startTime;
  samples.forEach((id, index) => {
    const delta = timeDeltas[index] ?? 0;
    at += delta;
    const part = parts.get(id) ?? null;
    if (part !== null && at > fromUs && at <= toUs) times.set(part, (times.get(part) ?? 0) + delta);
  });
  return times;
}

/** The part of each node. A function of no part, such as a native one, counts as its caller. Null: idle. */
function partsOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, string | null> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string | null>();
  const visit = (node: ProfileNode, ofCaller: string): void => {
    const { functionName, url } = node.callFrame;
    const own = PARTS.find(([, pattern]) => pattern.test(url))?.[0] ?? ofCaller;
    parts.set(node.id, Object.hasOwn(OF_NAME, functionName) ? (OF_NAME[functionName] ?? null) : own);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) visit(child, own);
    }
  };
  const [root] = nodes;
  if (root !== undefined) visit(root, OTHER);
  return parts;
}
