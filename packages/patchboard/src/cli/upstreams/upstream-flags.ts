import { Option, type Command } from 'commander';
import type { McpUpstreamConfig, OpenApiConfig } from '../../settings/upstream-config.ts';
import { durationMs } from '../duration.ts';
import { UsageError } from '../exit-codes.ts';
import { addText, positiveNumber } from '../flag-values.ts';
import { withFolderOptions, type FolderOptions } from './upstream-target.ts';

/** The flags of `add` for both kinds of upstreams. */
export interface AddFlags extends FolderOptions {
  readonly header?: Readonly<Record<string, string>>;
  readonly tools?: readonly string[];
  readonly tenant?: readonly string[];
  readonly timeout?: string;
  readonly concurrency?: number;
  readonly onChange?: 'ask' | 'run' | 'refuse';
  readonly check: boolean;
}

/** The help on texts of `add`. */
export const VARIABLES = `
In addresses, headers and arguments, \${NAME} is replaced by the environment
variable of the server when it starts: quote it ('\${NAME}'), so that the shell
does not replace it. Other values are stored in upstreams.json of the data
folder, which only this user can read.

The command then shows the tools, and which of them run without approval. It
uses the server that runs on the data folder; without one it connects once
by itself.`;

export function withAddOptions(command: Command): Command {
  return withFolderOptions(command)
    .option('--header <header>', "header of every request, 'NAME: VALUE', repeatable", addHeader)
    .option('--tools <patterns>', "tools to offer, such as '*,!delete_*', repeatable", addPatterns)
    .option('--tenant <id>', 'tenant that has its tools, repeatable (default: all)', addText)
    .option('--timeout <duration>', 'time limit of its tools, such as 90s (default 60s)')
    .option('--concurrency <number>', 'calls that run on it at once (default 8)', positiveNumber)
    .addOption(
      new Option('--on-change <action>', 'calls of a tool whose contract changed (default ask)').choices([
        'ask',
        'run',
        'refuse',
      ]),
    )
    .option('--no-check', 'do not connect and do not show the tools');
}

/** Returns the settings that both kinds have. */
export function commonConfig(
  flags: AddFlags,
): Pick<
  McpUpstreamConfig & OpenApiConfig,
  'headers' | 'tools' | 'tenants' | 'timeout_ms' | 'concurrency' | 'on_change'
> {
  return {
    ...(flags.header === undefined ? {} : { headers: flags.header }),
    ...(flags.tools === undefined ? {} : { tools: flags.tools }),
    ...(flags.tenant === undefined ? {} : { tenants: flags.tenant }),
    ...(flags.timeout === undefined ? {} : { timeout_ms: durationMs('--timeout', flags.timeout) }),
    ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
    ...(flags.onChange === undefined ? {} : { on_change: flags.onChange }),
  };
}

/** Adds `NAME=VALUE`. Its error is not one of commander, which would print the value. */
export function addVariable(
  given: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const equals = given.indexOf('=');
  if (equals < 1) throw new UsageError('--env and --security need NAME=VALUE');
  return { ...before, [given.slice(0, equals)]: given.slice(equals + 1) };
}

function addHeader(
  given: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const colon = given.indexOf(':');
  if (colon < 1) throw new UsageError("--header needs 'NAME: VALUE'");
  return { ...before, [given.slice(0, colon).trim()]: given.slice(colon + 1).trim() };
}

function addPatterns(given: string, before: readonly string[] = []): readonly string[] {
  const patterns = given.split(',').map((one) => one.trim());
  return [...before, ...patterns.filter((one) => one !== '')];
}
