import type uPlot from 'uplot';

export interface Line {
  readonly name: string;
  /** A custom property of the page, such as `--ok`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

export function chartOptions(
  host: HTMLElement,
  lines: readonly Line[],
  unit: string,
  onPoint: (index: number) => void,
): uPlot.Options {
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
    cursor: { bind: { click: (chart) => clicked(chart, onPoint) }, points: { size: 7 } },
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(max * 1.1, 1)] } },
    axes: [
      axis,
      { ...axis, size: 56, values: (_chart, ticks) => ticks.map((tick) => `${shortNumber(tick)}${unit}`) },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.name,
        stroke: color(line.color),
        width: 1.6,
        points: { size: 5 },
        spanGaps: false,
        value: (_chart: uPlot, value: number | null) =>
          value === null ? '–' : `${shortNumber(value)}${unit}`,
      })),
    ],
  };
}

function clicked(chart: uPlot, onPoint: (index: number) => void): () => null {
  return () => {
    const { idx } = chart.cursor;
    if (typeof idx === 'number') onPoint(idx);
    return null;
  };
}

function shortNumber(value: number): string {
  if (value >= 10_000) return `${Math.round(value / 1000)}k`;
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
