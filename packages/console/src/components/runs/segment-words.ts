import type { CallSegment } from '../../data/call-segments.ts';
import { duration } from '../../format.ts';

/** Returns what the call did in the segment, and for how long. */
export function segmentWords(
  { state, from, to, attempt }: CallSegment,
  t: (key: string, given?: Readonly<Record<string, unknown>>) => string,
): string {
  const again = attempt !== null && attempt > 1 ? ` (${t('waterfall.attempt', { number: attempt })})` : '';
  return `${t(`stretches.${state}`)}${again} ${duration(Math.max(to - from, 0))}`;
}
