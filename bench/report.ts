import type { Arm, Figure, SideBySide } from './figure.ts';
import type { Machine } from './machine.ts';
import type { Comparison } from './statistics.ts';

export function header(machine: Machine, quick: boolean): string {
  const { node, platform, cores, cpu, memoryGb, filesystem } = machine;
  const lines = [
    `Patchboard benchmark · Node ${node} · ${platform} · ${cores} cores (${cpu}) · ${memoryGb} GB · stores on ${filesystem}`,
    'Arms are interleaved on one machine, servers and load generator in processes of their own, all on loopback.',
    'Read the ratios; absolute values are this machine in this minute, and differences under 1.3× are noise.',
  ];
  if (quick) lines.push('A quick run: it shows that everything works, and its numbers mean nothing.');
  return `${lines.join('\n')}\n`;
}

/** The report as a table. */
export function table(figure: Figure): string {
  const { id, work, target, durability, ratio, spread, arms, sideBySide, others } = figure;
  const rows =
    sideBySide === undefined
      ? [
          ['arm', 'median', 'min', 'max', 'runs'],
          ...Object.entries(arms).map(([name, arm]) => armRow(name, arm)),
        ]
      : tableRows(sideBySide);
  const lines = [
    `${id}  ratio ${number(ratio)} (single slices ${number(spread.min)} to ${number(spread.max)})  target ${target}`,
    ...work.map((line) => `    ${line}`),
    ...durability.split('\n').map((line, index) => `    ${index === 0 ? 'durability: ' : '  '}${line}`),
    ...columns(rows).map((line) => `    ${line}`),
    ...Object.entries(others).map(([name, comparison]) => `    ${name}: ${spreadOf(comparison)}`),
  ];
  return `\n${lines.join('\n')}\n`;
}

/** The report as one line of JSON. */
export function jsonLine({ id, ratio, target, arms, durability, spread, others }: Figure): string {
  return `${JSON.stringify({ id, ratio, target, arms, durability, spread, others })}\n`;
}

function tableRows({ columns: names, rows }: SideBySide): string[][] {
  const lines = rows.map(({ name, cells }) => [
    name,
    ...cells.map((cell) => (cell === null ? '–' : number(cell))),
  ]);
  return [['median', ...names], ...lines];
}

function armRow(name: string, { unit, median, runs }: Arm): string[] {
  const cells = [median, Math.min(...runs), Math.max(...runs)].map(number);
  return [name, `${cells[0]} ${unit}`, cells[1] ?? '', cells[2] ?? '', String(runs.length)];
}

function spreadOf({ ratio, min, max }: Comparison): string {
  return `${number(ratio)} (${number(min)} to ${number(max)})`;
}

function number(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}
