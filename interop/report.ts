/** One line of the report. */
export interface Row {
  /** Package and version. */
  readonly client: string;
  readonly era: string;
  readonly transport: string;
  readonly does: string;
  /** Undefined: passed. */
  readonly problem?: string;
}

/** The runs as a table, and below it what went wrong. */
export function table(rows: readonly Row[]): string {
  const cells = [
    ['client', 'era', 'over', 'result', 'what was done'],
    ...rows.map(({ client, era, transport, does, problem }) => [
      client,
      era,
      transport,
      problem === undefined ? 'passed' : 'FAILED',
      does,
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const problems = rows.flatMap(({ client, era, transport, problem }) =>
    problem === undefined ? [] : ['', `${client}, ${era}, ${transport}:`, problem],
  );
  const failed = rows.filter(({ problem }) => problem !== undefined).length;
  return [...lines, ...problems, '', `${rows.length} runs, ${failed} failed`].join('\n');
}
