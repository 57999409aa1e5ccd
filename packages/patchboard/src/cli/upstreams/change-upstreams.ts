import { PatchboardError } from '@patchboard/client';
import type { ReloadUpstreamsView } from '@patchboard/wire';
import { makeDataFolder } from '../../settings/make-data-folder.ts';
import type { UpstreamsConfig } from '../../settings/upstream-config.ts';
import { changeUpstreamFile, upstreamFileIn } from '../../settings/upstream-file.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { atServer, serverUrlOf } from './upstream-target.ts';

export interface Change {
  readonly apply: (config: UpstreamsConfig) => UpstreamsConfig;
  /** Undoes `apply`, after the server refused the new settings; null: the file stays changed. */
  readonly undo: ((config: UpstreamsConfig) => UpstreamsConfig) | null;
}

export interface Changed {
  readonly file: string;
  /** Null: no server runs on the data folder. */
  readonly url: string | null;
  /** What the server changed; null: there is no server, or it refused. */
  readonly reloaded: ReloadUpstreamsView | null;
}

/**
 * Changes `upstreams.json`, and lets the server of the folder read it again. If the server refuses the settings, the change is
 * undone, because the next start would fail, and a `UsageError` is thrown.
 */
export async function changeUpstreams(
  context: CliContext,
  dataFolder: string,
  { apply, undo }: Change,
): Promise<Changed> {
  await makeDataFolder(dataFolder);
  const file = upstreamFileIn(dataFolder);
  await changeUpstreamFile(dataFolder, apply);
  const url = await serverUrlOf(dataFolder);
  if (url === null) return { file, url, reloaded: null };
  try {
    const reloaded = await atServer(context, { url, dataFolder }, (client) => client.reloadUpstreams());
    return { file, url, reloaded };
  } catch (error) {
    const isRefused = error instanceof PatchboardError && error.code === 'conflict';
    if (!isRefused) {
      context.output.note(`${file} is changed, but the server at ${url} did not read it: restart it.`);
      throw error;
    }
    const refusal = `the server at ${url} did not accept the new settings: ${error.detail}`;
    if (undo !== null) {
      await changeUpstreamFile(dataFolder, undo);
      throw new UsageError(`${refusal}\n  → ${file} is as before. ${SERVER_VARIABLES}`);
    }
    context.output.note(refusal);
    return { file, url, reloaded: null };
  }
}

const SERVER_VARIABLES =
  'Variables are those of the server: to use one that it does not have, stop it, run this command again, and start it with the variable set.';

/** Returns the config without the upstreams of these names, and with no member that it did not have. */
export function without(config: UpstreamsConfig, names: readonly string[]): UpstreamsConfig {
  const kept = <T>(all: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
  const { upstreams, openapi } = config;
  return {
    ...config,
    ...(upstreams === undefined ? {} : { upstreams: kept(upstreams) }),
    ...(openapi === undefined ? {} : { openapi: kept(openapi) }),
  };
}
