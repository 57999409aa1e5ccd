import type uPlot from 'uplot';
import { ROUND_DURATIONS, ROUND_NUMBERS } from '../../axis-steps.ts';
import { clockTime, dayOnly, duration, shortCount, shortDuration, shortTime } from '../../format.ts';

export interface Line {
  readonly name: string;
  /** A custom property of the page, such as `--ok`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

/** What the values of a chart are. */
export type ChartUnit = 'count' | 'percent' | 'ms';

export interface ChartLook {
  readonly lines: readonly Line[];
  readonly unit: ChartUnit;
  /** Label of the time axis. */
  readonly timeWord: string;
  readonly language: string;
  /** `line`: the one at the pointer; null if there is none. */
  readonly onPoint: (index: number, line: number | null) => void;
}

/**
 * Possible seconds between the labels of the time axis; none is below one second, where labels would be
 * equal.
 */
const STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800];

export function chartOptions(host: HTMLElement, look: ChartLook): uPlot.Options {
  const style = getComputedStyle(host);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
    font: '11px system-ui, sans-serif',
  };
  return {
    width: Math.max(host.clientWidth, 200),
    height: 200,
    cursor: { points: { size: 7 } },
    hooks: { ready: [(chart) => chart.over.addEventListener('click', () => clicked(chart, look.onPoint))] },
    scales: {
      y: { range: (_chart, _min, max) => [0, Math.max(max * 1.1, 1)] },
    },
    axes: [
      {
        ...axis,
        space: 80,
        incrs: STEPS,
        values: (chart, ticks) => ticks.map((at) => timeOf(chart, at, look.language)),
      },
      {
        ...axis,
        size: 60,
        incrs: [...(look.unit === 'ms' ? ROUND_DURATIONS : ROUND_NUMBERS)],
        values: (_chart, ticks) =>
          ticks.map((value) =>
            look.unit === 'ms' ? shortDuration(value) : amountWords(value, look.unit, look.language),
          ),
      },
    ],
    series: [
      {
        label: look.timeWord,
        value: (_chart, at: number | null) => (at === null ? '' : shortTime(at, look.language)),
      },
      ...look.lines.map((line) => ({
        label: line.name,
        stroke: color(line.color),
        width: 1.6,
        // The data has gaps: draw single points too, because a point between two gaps has no line.
        points: { size: 5, ...(look.unit === 'count' ? {} : { show: true }) },
        spanGaps: false,
        // No legend value without a hovered point.
        value: (_chart: uPlot, value: number | null, _series: number, at: number | null) =>
          at === null ? '' : amountWords(value, look.unit, look.language),
      })),
    ],
  };
}

/** Returns the date if the axis spans days, else the time. */
function timeOf(chart: uPlot, at: number, language: string): string {
  const { min = 0, max = 0 } = chart.scales['x'] ?? {};
  const isLong = Number(max) - Number(min) > 2 * 86_400;
  return isLong ? dayOnly(at, language) : clockTime(at, language);
}

const NEAR_PX = 24;

function clicked(chart: uPlot, onPoint: ChartLook['onPoint']): void {
  const { idx, top = 0 } = chart.cursor;
  if (typeof idx !== 'number') return;
  const distances = chart.data.slice(1).map((values) => {
    const value = values[idx];
    return typeof value === 'number' ? Math.abs(chart.valToPos(value, 'y') - top) : Infinity;
  });
  const nearest = Math.min(...distances);
  onPoint(idx, nearest <= NEAR_PX ? distances.indexOf(nearest) : null);
}

/** Null if there was no value. */
export function amountWords(value: number | null, unit: ChartUnit, language: string): string {
  if (value === null) return '–';
  if (unit === 'ms') return duration(value);
  return unit === 'percent' ? `${shortCount(value, language)} %` : shortCount(value, language);
}
