import type { SeededRandom } from './seeded-random.ts';

/** Where in the life of a call it happens. */
const STEPS = ['asked', 'begun', 'returning', 'acknowledged'] as const;
/** What happens. */
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

/** Every blow at every step, as often as it takes; the rare and slow ones less often. */
export function planOf(loops: number, random: SeededRandom): Disturbance[] {
  const all = STEPS.flatMap((step) => BLOWS.map((blow) => ({ step, blow })));
  const quick = all.filter(({ blow }) => !blow.startsWith('server') && blow !== 'device killed');
  const plan = all.slice(0, loops);
  while (plan.length < loops) plan.push(random.chance(0.2) ? random.pick(all) : random.pick(quick));
  return plan;
}
