import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { createClient, type PatchboardClient } from '@patchboard/client';
import { Option, type Command } from 'commander';
import type { ArgumentSources } from './arguments.ts';
import { givenColumns, type Environment } from '../settings/environment.ts';
import { connectionOf } from './connection.ts';
import { UsageError } from './exit-codes.ts';
import { withJsonOptions } from './json-options.ts';
import { createOutput, type Output, type OutputStream } from './output.ts';
import { printable } from './terminal-text.ts';

/** The access of a command to its process. */
export interface CliContext {
  readonly environment: Environment;
  readonly output: Output;
  readonly isTerminal: boolean;
  readonly sources: ArgumentSources;
  /** Whether stdin and stderr are terminals, so that `ask` reaches a person. */
  readonly canAsk: boolean;
  /** Resolves to one line of input, or to null at the end of the input or when `signal` aborts. */
  ask(question: string, signal?: AbortSignal): Promise<string | null>;
  /** Writes bulk data to stdout. Resolves when the stream accepts more (back-pressure). */
  writeOut(text: string): Promise<void>;
  /** Calls `action` at the next Ctrl-C. Returns a function that removes the listener. */
  onInterrupt(action: () => void): () => void;
  readonly exitWith: (code: number) => void;
}

/** The options of every command that calls a server. */
export interface ServerOptions {
  readonly url?: string;
  readonly profile?: string;
  readonly json?: boolean;
}

export function withServerOptions(command: Command): Command {
  return withJsonOptions(
    command
      .addOption(new Option('--url <url>', 'URL of the server (PATCHBOARD_URL, default: see --profile)'))
      .addOption(
        new Option(
          '--profile <name>',
          'named server and credential (PATCHBOARD_PROFILE; default: the server on the data folder, else http://127.0.0.1:8080)',
        ),
      ),
  );
}

/** Resolves to a client with the key of the environment or the profile; never with the operator token. */
export async function connect(
  context: CliContext,
  options: ServerOptions,
  runId?: string,
): Promise<PatchboardClient> {
  const connection = await connectionOf(context.environment, options);
  const key = await connection.key();
  try {
    return createClient({
      url: connection.url,
      ...(key === null ? {} : { key: key.secret }),
      ...(runId === undefined ? {} : { runId }),
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

type ReadableInput = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export function processContext(environment: Environment): CliContext {
  const stdout: OutputStream & { readonly isTTY?: boolean } = process.stdout;
  const noColour = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  const columns = givenColumns(environment);
  const output = createOutput({ stdout, stderr: process.stderr, noColour, columns });
  return {
    environment,
    output,
    isTerminal: stdout.isTTY === true,
    sources: {
      readFile: (path) => readFile(path, 'utf8'),
      readStdin: () => readStdin(process.stdin, output),
    },
    canAsk: isTerminal(process.stdin) && isTerminal(process.stderr),
    ask: askLine,
    writeOut: async (text) => {
      if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
    },
    onInterrupt(action) {
      // Once: the default action of a second Ctrl-C ends the process.
      process.once('SIGINT', action);
      return () => process.off('SIGINT', action);
    },
    exitWith: (code) => {
      process.exitCode = code;
    },
  };
}

function isTerminal(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true;
}

/** Reads without readline's line editing, in which Ctrl-C would not raise SIGINT. */
async function askLine(question: string, signal?: AbortSignal): Promise<string | null> {
  const until = signal === undefined ? {} : { signal };
  const lines = createInterface({ input: process.stdin, terminal: false, ...until });
  try {
    process.stderr.write(printable(question));
    for await (const line of lines) return line;
    process.stderr.write('\n');
    return null;
  } finally {
    lines.close();
  }
}

function readStdin(stdin: ReadableInput, output: Output): Promise<string> {
  if (stdin.isTTY === true) output.note('reading from the terminal; press Ctrl-D at the end');
  return text(stdin);
}
