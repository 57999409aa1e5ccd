import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { createClient, type PatchboardClient } from '@patchboard/client';
import { Option, type Command } from 'commander';
import type { ArgumentSources } from './arguments.ts';
import { clientSettings, type Environment } from '../settings/environment.ts';
import { UsageError } from './exit-codes.ts';
import { createOutput, type Output, type OutputStream } from './output.ts';
import { printable } from './terminal-text.ts';

/** All that a command has of the process it runs in. */
export interface CliContext {
  readonly environment: Environment;
  readonly output: Output;
  readonly isTerminal: boolean;
  readonly sources: ArgumentSources;
  /** Whether there is a person to ask. */
  readonly canAsk: boolean;
  /** One line from the person, or null when they close the input instead. */
  ask(question: string): Promise<string | null>;
  /** Data in bulk: settles when there is room for more. */
  writeOut(text: string): Promise<void>;
  /** Ctrl-C, once; the answer takes it off again. */
  onInterrupt(action: () => void): () => void;
  readonly exitWith: (code: number) => void;
}

/** Options every command that talks to a server has. */
export interface ServerOptions {
  readonly url?: string;
  readonly json?: boolean;
}

export function withServerOptions(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'server to talk to (PATCHBOARD_URL, default http://127.0.0.1:8080)'))
    .addOption(new Option('--json', 'print JSON'));
}

export function connect(context: CliContext, options: ServerOptions, runId?: string): PatchboardClient {
  const { url, key } = clientSettings(context.environment);
  try {
    return createClient({
      url: options.url ?? url,
      ...(key === null ? {} : { key }),
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
  const output = createOutput({ stdout, stderr: process.stderr, noColour });
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
      // Once: a second Ctrl-C finds the default again and ends the process.
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

/** Not through a line editor: the terminal's own keeps Ctrl-C an interrupt. */
async function askLine(question: string): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, terminal: false });
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
  if (stdin.isTTY === true) output.note('reading from the terminal; end with Ctrl-D');
  return text(stdin);
}
