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

/** Results with what was left out of them. */
export interface Recorded {
  readonly results: Results;
  /** Ids of figures that keep their earlier results, because this run lacks one of their peers. */
  readonly incomplete: readonly string[];
}

/** Adds figures to the recorded ones and writes the file. */
export async function recordResults(
  machine: Machine,
  figures: readonly Figure[],
  measuredOn: string,
): Promise<Recorded> {
  const recorded = addFigures(await readResults(), { machine, figures, measuredOn });
  await writeFile(FILE, `${JSON.stringify(recorded.results, null, 2)}\n`);
  return recorded;
}

/** Figures of another machine are dropped: ratios of two machines are no comparison. */
export function addFigures(
  before: Results | null,
  run: { readonly machine: Machine; readonly figures: readonly Figure[]; readonly measuredOn: string },
): Recorded {
  const { machine, measuredOn } = run;
  const kept = before !== null && isSameMachine(before.machine, machine) ? before.figures : {};
  const added: Record<string, RecordedFigure> = {};
  const incomplete: string[] = [];
  for (const figure of run.figures) {
    const results = peersOf(figure);
    const names = new Set(results.map(({ peer }) => peer.name));
    const isComplete = (kept[figure.id]?.results ?? []).every(({ peer }) => names.has(peer.name));
    if (!isComplete) incomplete.push(figure.id);
    else if (results.length > 0) added[figure.id] = { measuredOn, results };
  }
  return { results: { machine, figures: { ...kept, ...added } }, incomplete };
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
