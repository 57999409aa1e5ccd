import type { SeededRandom } from './seeded-random.ts';

/** The step of a call at which the fault is injected. */
const STEPS = ['asked', 'begun', 'returning', 'acknowledged'] as const;
/** The injected fault. */
const FAULTS = [
  'device killed',
  'device stopped',
  'server killed',
  'server stopped',
  'connection drops up',
  'connection drops down',
  'connection drops both',
  'connection reset',
] as const;

export type Step = (typeof STEPS)[number];
export type Fault = (typeof FAULTS)[number];

export interface Disturbance {
  readonly step: Step;
  readonly fault: Fault;
}

/** Every fault at every step, filled up to `loops` with random ones; slow faults are chosen less often. */
export function planOf(loops: number, random: SeededRandom): Disturbance[] {
  const all = STEPS.flatMap((step) => FAULTS.map((fault) => ({ step, fault })));
  const quick = all.filter(({ fault }) => !fault.startsWith('server') && fault !== 'device killed');
  const plan = all.slice(0, loops);
  while (plan.length < loops) plan.push(random.chance(0.2) ? random.pick(all) : random.pick(quick));
  return plan;
}
