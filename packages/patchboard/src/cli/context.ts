import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { createClient, type PatchboardClient } from '@patchboard/client';
import { Option, type Command } from 'commander';
import type { ArgumentSources } from './arguments.ts';
import { clientSettings, type Environment } from './config.ts';
import { UsageError } from './exit-codes.ts';
import { createOutput, type Output, type OutputStream } from './output.ts';

/** All that a command has of the process it runs in. */
export interface CliContext {
  readonly environment: Environment;
  readonly output: Output;
  readonly isTerminal: boolean;
  readonly sources: ArgumentSources;
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

function readStdin(stdin: ReadableInput, output: Output): Promise<string> {
  if (stdin.isTTY === true) output.note('reading arguments from the terminal; end with Ctrl-D');
  return text(stdin);
}
