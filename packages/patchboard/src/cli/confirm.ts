import type { CliContext } from './context.ts';

/** Asks a question on the terminal. Only `y` and `yes` confirm; an empty line and the end of the input do not. */
export async function isConfirmed(context: CliContext, question: string): Promise<boolean> {
  const line = await context.ask(`${question} [y/N] `);
  return line !== null && /^\s*y(es)?\s*$/i.test(line);
}
