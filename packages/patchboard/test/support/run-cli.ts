import { readFile } from 'node:fs/promises';
import { commands } from '../../src/cli/commands.ts';
import { processContext, type CliContext } from '../../src/cli/context.ts';
import { createOutput } from '../../src/cli/output.ts';
import { createProgram, runProgram } from '../../src/cli/program.ts';

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/**
 * Runs one command line in this process. `replies`: what a person at a terminal types; without it there is no terminal to type
 * at. `columns`: the width of the terminal that shows the output; without it there is none.
 */
export async function runCli(
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
  replies?: readonly string[],
  columns?: number,
): Promise<Ended> {
  let out = '';
  let error = '';
  let set: number | undefined;
  const left = [...(replies ?? [])];
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  const stdout = { write: (text: string) => void (out += text), ...terminal };
  const stderr = { write: (text: string) => void (error += text) };
  const context: CliContext = {
    ...processContext(environment),
    output: createOutput({ stdout, stderr, noColour: true }),
    sources: { readFile: (path) => readFile(path, 'utf8'), readStdin: () => Promise.resolve('') },
    canAsk: replies !== undefined,
    ask: (question) => {
      error += question;
      return Promise.resolve(left.shift() ?? null);
    },
    exitWith: (code) => (set = code),
  };
  const streams = { out: stdout.write, error: stderr.write };
  const program = createProgram(await commands(context, argv), '0.0.0', streams);
  const code = await runProgram(program, argv, streams);
  return { code: code ?? set ?? 0, out, error };
}
