import { open } from 'node:fs/promises';
import { createCompleteFile } from '../complete-file.ts';
import type { CliContext } from '../context.ts';
import { asOperator, type OperatorOptions } from '../operator-client.ts';
import type { SelectPath } from '../select-path.ts';
import { printable } from '../terminal-text.ts';

export interface ExportFlags extends OperatorOptions {
  readonly out?: string;
  readonly select?: SelectPath;
}

/** Lines are written in batches of this size. */
const BATCH_CHARS = 64 * 1024;

export async function exportLedger(context: CliContext, flags: ExportFlags): Promise<void> {
  const { output } = context;
  await asOperator(context, flags, async (client) => {
    const lines = client.ledgerExport();
    if (flags.out === undefined && flags.select !== undefined) {
      for await (const line of lines) output.jsonLine(JSON.parse(line));
      return;
    }
    if (flags.out === undefined) {
      // On a terminal, control characters are escaped; in a pipe, the lines are written byte for byte.
      const shown = (text: string): string => (context.isTerminal ? printable(text) : text);
      await copy(lines, (text) => context.writeOut(shown(text)));
      return;
    }
    const { rows, head } = await copyToFile(lines, flags.out);
    if (flags.json === true) output.json({ file: flags.out, rows, ...head });
    else output.note(`${rows} rows written to ${flags.out}`);
  });
}

interface Copied {
  readonly rows: number;
  readonly head: Readonly<Record<string, unknown>>;
}

async function copy(lines: AsyncIterable<string>, write: (text: string) => Promise<void>): Promise<Copied> {
  let batch = '';
  let last = '{}';
  let count = 0;
  for await (const line of lines) {
    last = line;
    count += 1;
    batch += `${line}\n`;
    if (batch.length < BATCH_CHARS) continue;
    await write(batch);
    batch = '';
  }
  await write(batch);
  return { rows: count - 1, head: JSON.parse(last) as Record<string, unknown> };
}

async function copyToFile(lines: AsyncIterable<string>, file: string): Promise<Copied> {
  return await createCompleteFile(file, { force: true, name: '--out' }, async (temporary) => {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      return await copy(lines, (text) => handle.writeFile(text));
    } finally {
      await handle.close();
    }
  });
}
