import { messageOf } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';
import type { DatabaseClock } from './database-clock.ts';
import { NodeFenced, type NodeReport, type NodeRow, type NodeTable } from './node-table.ts';
import { FailureDetector } from './failure-detector.ts';
import { Repeated } from '../core/repeated.ts';
import { BEAT_EVERY_MS, BEGIN_WITHIN_MS } from './timing.ts';

export interface ClusterHeartbeatParts {
  readonly table: NodeTable;
  readonly clock: DatabaseClock;
  readonly log: Log;
  readonly report: () => NodeReport;
  /** Called after each heartbeat, with all nodes and those that are dead. */
  readonly observed: (nodes: readonly NodeRow[], dead: readonly NodeRow[]) => void;
  readonly fenced: (problem: string) => void;
}

/** Writes the heartbeat of this node and observes those of the others. */
export class ClusterHeartbeat {
  readonly #parts: ClusterHeartbeatParts;
  readonly #detector: FailureDetector;
  readonly #beats: Repeated;
  #nodes: readonly NodeRow[] = [];
  /** When the last heartbeat that succeeded was sent, monotonic. */
  #beatAt = -Infinity;
  #isFailing = false;

  constructor(parts: ClusterHeartbeatParts) {
    this.#parts = parts;
    const { table, log } = parts;
    this.#detector = new FailureDetector(table.self.writer, (ms) =>
      log.warn('cluster.observation_late', { ms: Math.round(ms) }),
    );
    this.#beats = new Repeated(parts.clock, BEAT_EVERY_MS, () => this.#beat());
  }

  /** Resolves after the first heartbeat. Rejects if it fails. */
  async start(): Promise<void> {
    await this.#beatOnce();
    this.#beats.start();
  }

  /** Beats without waiting for the time: the report has changed. */
  now(): void {
    this.#beats.now();
  }

  stop(): Promise<void> {
    return this.#beats.stop();
  }

  get nodes(): readonly NodeRow[] {
    return this.#nodes;
  }

  /** Other nodes that hold a writer. */
  get others(): readonly NodeRow[] {
    const { writer } = this.#parts.table.self;
    return this.#nodes.filter((node) => node.writer !== writer && node.state !== 'free');
  }

  get hasLease(): boolean {
    return this.#parts.clock.elapsed() - this.#beatAt < BEGIN_WITHIN_MS;
  }

  /** Milliseconds since this node saw a new heartbeat of the writer; null if no node holds it. */
  lastBeatMs(writer: number): number | null {
    const { table, clock } = this.#parts;
    const since = writer === table.self.writer ? this.#beatAt : this.#detector.seenAt(writer);
    return since === null ? null : Math.max(0, Math.round(clock.elapsed() - since));
  }

  silent(): readonly number[] {
    return this.#detector.silent(this.#nodes, this.#parts.clock.elapsed());
  }

  async #beat(): Promise<void> {
    try {
      await this.#beatOnce();
      this.#isFailing = false;
    } catch (error) {
      this.#detector.reset();
      if (error instanceof NodeFenced) return this.#parts.fenced(error.message);
      // Without the database no node can be taken for dead either.
      if (!this.#isFailing) this.#parts.log.warn('cluster.heartbeat_failed', { error: messageOf(error) });
      this.#isFailing = true;
    }
  }

  async #beatOnce(): Promise<void> {
    const { table, clock, report, observed } = this.#parts;
    const sentAt = clock.elapsed();
    const { nodes, now } = await table.beat(report());
    const receivedAt = clock.elapsed();
    clock.measured(sentAt, receivedAt, now);
    this.#beatAt = sentAt;
    this.#nodes = nodes;
    observed(nodes, this.#detector.observe(nodes, sentAt, receivedAt));
  }
}
