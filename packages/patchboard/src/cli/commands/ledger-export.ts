import { open, rename, rm } from 'node:fs/promises';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { asOperator, type OperatorOptions } from '../operator-client.ts';
import { printable } from '../terminal-text.ts';
import { fileProblem } from '../../settings/file-problem.ts';

export interface ExportFlags extends OperatorOptions {
  readonly out?: string;
}

/** Lines are written in batches of this size. */
const BATCH_CHARS = 64 * 1024;

export async function exportLedger(context: CliContext, flags: ExportFlags): Promise<void> {
  const { output } = context;
  await asOperator(context, flags, async (client) => {
    const lines = client.ledgerExport();
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

/** Writes to a temporary name and renames the complete file, so that an incomplete export is never mistaken for one. */
async function copyToFile(lines: AsyncIterable<string>, file: string): Promise<Copied> {
  const unfinished = `${file}.${process.pid}.part`;
  const handle = await open(unfinished, 'wx', 0o600).catch((error: unknown) => {
    throw new UsageError(`--out: ${fileProblem(error)}`);
  });
  try {
    let copied: Copied;
    try {
      copied = await copy(lines, (text) => handle.writeFile(text));
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
    return copied;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
