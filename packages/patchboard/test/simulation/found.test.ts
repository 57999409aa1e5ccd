import { describe, expect, it } from 'vitest';
import { planOf } from './plan.ts';
import type { Profile } from './profile.ts';
import { violationLines } from './report.ts';
import { runPlan } from './run-plan.ts';

const PLAIN: Profile = {
  store: 'memory',
  nodes: 1,
  storeTiming: 'delayed',
  storeDelayMs: 30,
  networkDelayMs: 1,
  networkLoss: 0,
  skewMs: 0,
  activeMs: 2000,
  notificationLoss: 0,
  hasDevices: false,
  hasClientQueues: false,
  hasAgents: false,
  hasPolicies: false,
  hasInputs: false,
  hasKeys: false,
};

/** Seeds that found a fault, which is mended. With the whole profile and the kept steps, no other actor changes them. */
const FOUND: readonly {
  readonly fault: string;
  readonly seed: number;
  readonly profile: Partial<Profile>;
  readonly keep: string;
}[] = [
  {
    fault: 'a call that a device resumed after a restart keeps its timer',
    seed: 4,
    profile: { hasDevices: true, storeDelayMs: 5, networkDelayMs: 10 },
    keep: 'devices.9,devices.3,devices.14,faults.4',
  },
  {
    fault: 'a client gets a call from its queue while the end of the call, as not started, is committed',
    seed: 16,
    profile: {
      hasClientQueues: true,
      storeDelayMs: 120,
      networkLoss: 0.1,
      skewMs: 3_600_000,
      activeMs: 6000,
    },
    keep: 'clientQueues.10,clientQueues.8,clientQueues.7,agents.7,clientQueues.11,clientQueues.2,agents.10,agents.6,agents.15,agents.11',
  },
  {
    fault: 'an agent that is resumed twice loses the reply that the first crash cut off',
    seed: 18,
    profile: { hasAgents: true },
    keep: 'faults.1,faults.3,agents.8,agents.7,agents.21,agents.20,agents.18,agents.1,agents.16,agents.13,inProcessAgents.2,faults.2,agents.11,inProcessAgents.1,agents.10,agents.5',
  },
  {
    fault:
      'the journal of an agent whose creation could not be stored begins with an event, and cannot be resumed',
    seed: 153,
    profile: { hasAgents: true },
    keep: 'faults.1,inProcessAgents.1,faults.2',
  },
  {
    fault: 'a node that stood still after a commit begins a call that another node has sealed',
    seed: 1163,
    profile: {
      nodes: 2,
      storeDelayMs: 120,
      networkDelayMs: 10,
      networkLoss: 0.02,
      skewMs: 3_600_000,
      activeMs: 8000,
      notificationLoss: 0.1,
    },
    keep: 'agents.11,faults.3',
  },
  {
    fault: 'a node that is told late that a client waits takes a call that another node has delivered',
    seed: 39,
    profile: {
      nodes: 5,
      storeDelayMs: 5,
      networkDelayMs: 60,
      networkLoss: 0.1,
      skewMs: 3_600_000,
      activeMs: 8000,
      notificationLoss: 0.1,
      hasClientQueues: true,
    },
    keep: 'clientQueues.9,operators.2,clientQueues.10,clientQueues.11,clientQueues.3,agents.7,agents.18,agents.11,clientQueues.5,agents.16,clientQueues.12,agents.15,clientQueues.6',
  },
];

describe('a fault that the simulation found', () => {
  it.each(FOUND)('stays mended: $fault', async ({ seed, profile, keep }) => {
    const outcome = await runPlan(planOf(seed, { keep: keep.split(','), profile: { ...PLAIN, ...profile } }));
    expect(violationLines(outcome)).toEqual([]);
  });
});
