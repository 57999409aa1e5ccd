import { existsSync, readFileSync } from 'node:fs';
import type { CallView } from '@patchboard/wire';
import type { DeviceTrace } from './device-worker.ts';
import { upMs, type Life } from './history.ts';
import type { Findings } from './scenario.ts';

/** The submitted calls, the devices' executions, the acknowledgements, and the stored results. */
export class DeviceHistory {
  /** The submitted calls with their injected faults. */
  readonly calls: Map<string, { readonly n: number; readonly fault: string }> = new Map();
  /** Final states. */
  readonly views: Map<string, CallView> = new Map();
  readonly lives: Life[] = [];
  readonly #findings: Findings;
  #life: Life | null = null;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** A server is ready. */
  up(): void {
    this.#life = { from: Date.now(), until: Number.POSITIVE_INFINITY };
    this.lives.push(this.#life);
  }

  /** The server is about to be killed. */
  down(): void {
    if (this.#life !== null) this.#life.until = Date.now();
    this.#life = null;
  }

  /** Null while no server is running. */
  get upSince(): number | null {
    return this.#life?.from ?? null;
  }

  readTraces(file: string): DeviceTrace[] {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    // A kill may leave an incomplete last line.
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as DeviceTrace);
  }

  judge(traces: readonly DeviceTrace[], boundMs: number): void {
    const runs = new Map<string, string[]>();
    const kept = new Map<string, Set<string>>();
    for (const trace of traces) {
      const callId = trace.id.split(':')[0] ?? '';
      if (trace.kind === 'ran') runs.set(callId, [...(runs.get(callId) ?? []), trace.id]);
      else if (trace.accepted) kept.set(callId, (kept.get(callId) ?? new Set()).add(trace.id));
    }
    this.#judgeRuns(runs);
    this.#judgePromises(kept);
    this.#judgeEndings(runs, boundMs);
  }

  #judgeRuns(runs: ReadonlyMap<string, readonly string[]>): void {
    for (const [callId, ids] of runs) {
      this.#findings.check(ids.length === 1, `${callId} is not idempotent and ran ${ids.length} times`);
      const { outcome } = this.views.get(callId)?.error ?? {};
      this.#findings.check(outcome !== 'not_started', `${callId} is recorded as not started, but it ran`);
    }
  }

  /** A result that was acknowledged to a device must be stored. */
  #judgePromises(kept: ReadonlyMap<string, ReadonlySet<string>>): void {
    for (const [callId, ids] of kept) {
      const view = this.views.get(callId);
      const { id } = (view?.result ?? {}) as { id?: string };
      const isKept = view?.state === 'COMPLETED' && ids.size === 1 && id !== undefined && ids.has(id);
      this.#findings.check(
        isKept,
        `${callId} acknowledged ${[...ids].join()} as kept and keeps ${id ?? view?.state}`,
      );
    }
  }

  /** Downtime does not count: the next server ends overdue calls. */
  #judgeEndings(runs: ReadonlyMap<string, readonly string[]>, boundMs: number): void {
    for (const [callId, { n, fault }] of this.calls) {
      const view = this.views.get(callId);
      if (view === undefined || view.completed_at === null) {
        this.#findings.check(false, `${callId} (${fault}) has no ending`);
        continue;
      }
      const tookMs = upMs(this.lives, view.created_at * 1000, (view.completed_at + 1) * 1000);
      this.#findings.check(tookMs <= boundMs, `${callId} (${fault}) ended after ${tookMs} ms`);
      if (view.state !== 'COMPLETED') continue;
      const result = view.result as { n: number; id: string };
      const ran = runs.get(callId)?.includes(result.id) === true;
      this.#findings.check(
        ran && result.n === n,
        `${callId} has a result that no device produced: ${result.id}`,
      );
    }
  }
}
