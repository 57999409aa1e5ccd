import type { MetricGroupName } from '@patchboard/wire';
import { visibleText } from '../../visible-text.ts';

/** The name of a series for people: outcomes in words, other names as they are. */
export function seriesName(t: (key: string) => string, by: MetricGroupName | null, key: string): string {
  if (by === 'outcome') return t(`states.${key}`);
  return by === 'code' && key === '' ? t('metrics.noCode') : visibleText(key);
}
