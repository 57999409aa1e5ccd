import { resolve } from 'node:path';
import type { PatchboardClient } from '@patchboard/client';
import type { Command } from 'commander';
import { clientSettings } from '../../settings/environment.ts';
import { runningServer } from '../../settings/server-file.ts';
import { connectionOf, type ServerChoice } from '../connection.ts';
import type { CliContext } from '../context.ts';
import { withJsonOptions } from '../json-options.ts';
import { asOperator } from '../operator-client.ts';

/** The options of commands that read or change the upstreams of a data folder. */
export interface FolderOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/** The options of commands about the upstreams of a running server. */
export interface TargetOptions extends FolderOptions {
  readonly url?: string;
  readonly profile?: string;
}

export function withFolderOptions(command: Command): Command {
  return withJsonOptions(
    command.option('--data <folder>', 'data folder (PATCHBOARD_DATA, default ./.patchboard)'),
  );
}

export function withTargetOptions(command: Command): Command {
  return withFolderOptions(command)
    .option('--url <url>', 'URL of the server (PATCHBOARD_URL, default: the one of the data folder)')
    .option('--profile <name>', 'named server and credential (PATCHBOARD_PROFILE)');
}

export function dataFolderOf({ environment }: CliContext, { data }: FolderOptions): string {
  return data === undefined ? clientSettings(environment).dataFolder : resolve(data);
}

/** Returns the URL of the server that runs on the data folder; null if there is none. */
export async function serverUrlOf(dataFolder: string): Promise<string | null> {
  return (await runningServer(dataFolder))?.url ?? null;
}

/** Runs `work` with the operator token of the data folder, which only the folder's own server accepts. */
export async function atServer<T>(
  context: CliContext,
  { url, dataFolder }: { readonly url: string; readonly dataFolder: string },
  work: (client: PatchboardClient) => Promise<T>,
): Promise<T> {
  const environment = { ...context.environment, PATCHBOARD_DATA: dataFolder, PATCHBOARD_KEY: undefined };
  return await asOperator({ ...context, environment }, { url }, work);
}

/** Returns the URL that options, environment or profile name, else that of the folder's server, else null. */
export async function targetUrl(context: CliContext, options: TargetOptions): Promise<string | null> {
  const [{ environment }, choice] = await inFolder(context, options);
  const { url, isFound } = await connectionOf(environment, choice);
  return isFound ? url : null;
}

/** Runs `work` at the server that the options name. Without a server it fails as other commands do. */
export async function atTarget<T>(
  context: CliContext,
  options: TargetOptions,
  work: (client: PatchboardClient) => Promise<T>,
): Promise<T> {
  const [inContext, choice] = await inFolder(context, options);
  return await asOperator(inContext, choice, work);
}

/** With `--data`, the server on that folder comes before those of the environment and of a profile in use. */
async function inFolder(context: CliContext, options: TargetOptions): Promise<[CliContext, ServerChoice]> {
  const { data, url, profile } = options;
  const choice = { ...(url === undefined ? {} : { url }), ...(profile === undefined ? {} : { profile }) };
  if (data === undefined) return [context, choice];
  const dataFolder = resolve(data);
  const own = url ?? profile ?? (await serverUrlOf(dataFolder));
  const isOwn = url === undefined && profile === undefined && own !== null;
  const environment = { ...context.environment, PATCHBOARD_DATA: dataFolder };
  return [{ ...context, environment }, isOwn ? { url: own } : choice];
}
