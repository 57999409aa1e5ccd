import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Exchange } from './history.ts';

/** The counters of a scenario, and the violated guarantees. */
export interface ScenarioReport {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly violations: readonly string[];
  /** All requests of a scenario that records them. */
  readonly exchanges?: readonly Exchange[];
  /** What the servers logged about themselves, and when they were healthy. */
  readonly events?: readonly string[];
}

/** Collects violations instead of throwing, so that one does not hide the next. */
export class Findings {
  readonly violations: string[] = [];

  check(holds: boolean, otherwise: string): void {
    if (!holds) this.violations.push(otherwise);
  }
}

/** Creates a temporary folder for the duration of `use`. */
export async function withChaosFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-chaos-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
