import type { SeededRandom } from './seeded-random.ts';

/** The step of a call at which the fault is injected. */
const STEPS = ['asked', 'begun', 'returning', 'acknowledged'] as const;
/** The injected fault. */
const BLOWS = [
  'device killed',
  'device stopped',
  'server killed',
  'server stopped',
  'wire swallows up',
  'wire swallows down',
  'wire swallows both',
  'wire cut',
] as const;

export type Step = (typeof STEPS)[number];
export type Blow = (typeof BLOWS)[number];

export interface Disturbance {
  readonly step: Step;
  readonly blow: Blow;
}

/** Every fault at every step, filled up to `loops` with random ones; slow faults are chosen less often. */
export function planOf(loops: number, random: SeededRandom): Disturbance[] {
  const all = STEPS.flatMap((step) => BLOWS.map((blow) => ({ step, blow })));
  const quick = all.filter(({ blow }) => !blow.startsWith('server') && blow !== 'device killed');
  const plan = all.slice(0, loops);
  while (plan.length < loops) plan.push(random.chance(0.2) ? random.pick(all) : random.pick(quick));
  return plan;
}
