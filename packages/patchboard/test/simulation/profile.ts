import type { Limits } from '../../src/core/limits.ts';
import type { Random } from './random.ts';

/** What holds for a whole simulation. */
export interface Profile {
  /** The name of a kind of store, see `stores/all.ts`. */
  readonly store: string;
  /** The number of nodes that share the store. */
  readonly nodes: number;
  /** Whether the store returns at once, as the memory store does, or takes time. */
  readonly storeTiming: 'immediate' | 'delayed';
  /** The longest usual time of a request to the store, before and after its commit. */
  readonly storeDelayMs: number;
  /** The longest usual time of a message between an agent and a node. */
  readonly networkDelayMs: number;
  /** The share of requests whose message, or its response, is lost. */
  readonly networkLoss: number;
  /** The largest error of a node's wall clock. */
  readonly skewMs: number;
  /** Steps happen within this time. */
  readonly activeMs: number;
  /** The share of notifications between nodes that are lost. */
  readonly notificationLoss: number;
  /** Whether devices take part. */
  readonly hasDevices: boolean;
  /** Whether a client polls its queue. */
  readonly hasClientQueues: boolean;
  /** Whether agents run inside a node. */
  readonly hasAgents: boolean;
  /** Whether policies and grants change. */
  readonly hasPolicies: boolean;
  /** Whether tools ask their callers. */
  readonly hasInputs: boolean;
  /** Whether keys are made, used and revoked. */
  readonly hasKeys: boolean;
}

/** Shorter than the defaults, so that all deadlines pass within a simulation. */
export const SIMULATED_LIMITS: Partial<Limits> = {
  concurrencyPerRun: 2,
  concurrencyServer: 6,
  concurrencyPerTenant: 5,
  queueWaitMs: 4000,
  openCallsPerTenant: 16,
  approvalExpiryMs: 8000,
  inputExpiryMs: 6000,
  clientTimeoutMs: 4000,
  deviceHeartbeatMs: 1000,
  deviceGraceMs: 1500,
  hookTimeoutMs: 1000,
  drainMs: 2000,
};

/** After the last step the faults end; everything that is open must end within this time. */
export const CALM_MS = 120_000;

/** Each member has a stream of its own, so that a new member changes no other one. */
export function drawProfile(random: Random): Profile {
  const pick = <Name extends keyof Profile>(name: Name, values: readonly Profile[Name][]): Profile[Name] =>
    random.of('plan', 'profile', name).pick(values);
  const nodes = pick('nodes', [1, 1, 1, 2, 2, 3, 5]);
  const store = nodes === 1 ? pick('store', [...Array<string>(11).fill('memory'), 'sqlite']) : 'memory';
  return {
    store,
    nodes,
    // Nodes that share a store reach it over a network, and take their wall clock from it.
    storeTiming:
      nodes > 1 || store !== 'memory' ? 'delayed' : pick('storeTiming', ['immediate', 'delayed', 'delayed']),
    storeDelayMs: pick('storeDelayMs', [1, 5, 30, 120]),
    networkDelayMs: pick('networkDelayMs', [1, 10, 60]),
    networkLoss: pick('networkLoss', [0, 0.02, 0.1]),
    skewMs: pick('skewMs', [0, 0, 200, 3_600_000]),
    // Longer than a lease.
    activeMs: nodes > 1 ? 8000 : pick('activeMs', [2000, 6000, 15_000]),
    notificationLoss: pick('notificationLoss', [0, 0.1, 0.5, 1]),
    hasDevices: pick('hasDevices', [true, false, false]),
    hasClientQueues: pick('hasClientQueues', [true, false, false]),
    hasAgents: pick('hasAgents', [true, false, false]),
    hasPolicies: pick('hasPolicies', [true, false, false, false]),
    hasInputs: pick('hasInputs', [true, false, false, false]),
    hasKeys: pick('hasKeys', [true, false, false, false]),
  };
}
