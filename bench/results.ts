import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ComparedPeer, Figure, Target } from './figure.ts';
import type { Machine } from './machine.ts';

/** Our calls per second ÷ those of a peer. */
export interface PeerResult {
  readonly peer: ComparedPeer;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly target: Target | null;
}

export interface RecordedFigure {
  /** The day, as YYYY-MM-DD. */
  readonly measuredOn: string;
  readonly results: readonly PeerResult[];
}

/** What the picture and the table of peers show. All figures are from one machine. */
export interface Results {
  readonly machine: Machine;
  readonly figures: Readonly<Record<string, RecordedFigure>>;
}

const FILE = fileURLToPath(new URL('./results.json', import.meta.url));

/** Adds figures to the recorded ones. Those of another machine are dropped: ratios of two machines are no comparison. */
export async function recordResults(
  machine: Machine,
  figures: readonly Figure[],
  measuredOn: string,
): Promise<Results> {
  const before = await readResults();
  const kept = before !== null && isSameMachine(before.machine, machine) ? before.figures : {};
  const added = figures
    .map((figure) => [figure.id, { measuredOn, results: peersOf(figure) }] as const)
    .filter(([, { results }]) => results.length > 0);
  const results: Results = { machine, figures: { ...kept, ...Object.fromEntries(added) } };
  await writeFile(FILE, `${JSON.stringify(results, null, 2)}\n`);
  return results;
}

async function readResults(): Promise<Results | null> {
  try {
    return JSON.parse(await readFile(FILE, 'utf8')) as Results;
  } catch {
    return null; // nothing was recorded yet
  }
}

function peersOf({ outcomes }: Figure): PeerResult[] {
  return outcomes.flatMap(({ peer, value, min, max, target = null }) =>
    peer === undefined ? [] : [{ peer, value, min, max, target }],
  );
}

function isSameMachine(a: Machine, b: Machine): boolean {
  return a.cpu === b.cpu && a.cores === b.cores && a.platform === b.platform;
}
