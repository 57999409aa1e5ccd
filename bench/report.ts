import type { Arm, Figure, Outcome, SideBySide } from './figure.ts';
import type { Machine } from './machine.ts';
import { isMet, shortNumber, spreadText, targetText, valueText } from './outcome.ts';

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
export function table(figure: Figure, quick: boolean): string {
  const { id, work, durability, outcomes, arms, sideBySide } = figure;
  const armRows =
    sideBySide === undefined
      ? [
          ['arm', 'median', 'min', 'max', 'runs'],
          ...Object.entries(arms).map(([name, arm]) => armRow(name, arm)),
        ]
      : tableRows(sideBySide);
  const outcomeRows = [
    ['outcome', 'median', 'slices', 'target', ''],
    ...outcomes.map((outcome) => outcomeRow(outcome, quick)),
  ];
  const lines = [
    id,
    ...work.map((line) => `    ${line}`),
    ...durability.split('\n').map((line, index) => `    ${index === 0 ? 'durability: ' : '  '}${line}`),
    '',
    ...columns(outcomeRows).map((line) => `    ${line}`),
    '',
    ...columns(armRows).map((line) => `    ${line}`),
  ];
  return `\n${lines.join('\n')}\n`;
}

/** The report as one line of JSON. */
export function jsonLine({ id, durability, outcomes, arms, sideBySide }: Figure): string {
  const shown = outcomes.map((outcome) => {
    const { name, value, min, max, unit = 'ratio', peer = null } = outcome;
    return { name, unit, value, min, max, target: targetText(outcome), isMet: isMet(outcome), peer };
  });
  return `${JSON.stringify({ id, outcomes: shown, durability, arms, sideBySide })}\n`;
}

function outcomeRow(outcome: Outcome, quick: boolean): string[] {
  const met = quick ? null : isMet(outcome);
  return [
    outcome.name,
    valueText(outcome),
    spreadText(outcome),
    targetText(outcome) ?? '',
    met === null ? '' : met ? 'met' : 'missed',
  ];
}

function tableRows({ columns: names, rows }: SideBySide): string[][] {
  const lines = rows.map(({ name, cells }) => [
    name,
    ...cells.map((cell) => (cell === null ? '–' : shortNumber(cell))),
  ]);
  return [['median', ...names], ...lines];
}

function armRow(name: string, { unit, median, runs }: Arm): string[] {
  const cells = [median, Math.min(...runs), Math.max(...runs)].map(shortNumber);
  return [name, `${cells[0]} ${unit}`, cells[1] ?? '', cells[2] ?? '', String(runs.length)];
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
