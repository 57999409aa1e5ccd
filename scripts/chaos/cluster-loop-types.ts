import type { PostgresVersion } from '../../packages/patchboard/test/services/postgres-binaries.ts';
import type { ClusterSummary } from './check-cluster.ts';
import type { StoreSummary } from './check-store.ts';
import type { BusName, ClusterFault } from './cluster-faults.ts';
import type { Exchange } from './history.ts';
import type { LoadFacts } from './load.ts';
import type { PlantedFault } from './planted-faults.ts';

export interface ClusterLoopOptions {
  readonly folder: string;
  readonly version: PostgresVersion;
  readonly nodes?: number;
  /** One after the other, each for its share of the time. */
  readonly buses: readonly BusName[];
  /** The faults of each bus, or for how long there are faults. */
  readonly faults: readonly ClusterFault[] | { readonly ms: number } | { readonly rounds: number };
  /** The longest time that a node stands still, or a link is cut. */
  readonly longestMs?: number;
  /** Added to the bounds: for a busy machine. */
  readonly toleranceMs?: number;
  readonly seed: number;
  readonly log: (line: string) => void;
  readonly planted?: PlantedFault | null;
}

export interface ClusterLoopFacts extends LoadFacts {
  readonly faults: Readonly<Record<string, number>>;
  readonly starts: number;
  readonly takeovers: number;
  /** How often a node began anew in its process because another one had taken over. */
  readonly fences: number;
  readonly worstResumeMs: number;
  readonly rollingRequests: number;
  readonly cluster: ClusterSummary;
  readonly store: StoreSummary;
}

export interface ClusterLoopReport {
  readonly facts: Readonly<Record<string, unknown>> & ClusterLoopFacts;
  readonly violations: readonly string[];
  readonly exchanges: readonly Exchange[];
  readonly events: readonly string[];
}
