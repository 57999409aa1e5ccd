import type { UpstreamKind } from '@patchboard/wire';
import { resolveUpstreams, type UpstreamsSettings } from '../../settings/read-upstreams.ts';
import { MissingVariable } from '../../settings/config-values.ts';
import type { McpUpstreamConfig, OpenApiConfig, UpstreamsConfig } from '../../settings/upstream-config.ts';
import { upstreamFileIn } from '../../settings/upstream-file.ts';
import type { CliContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { changeUpstreams, without, type Changed } from './change-upstreams.ts';
import { connectOnce } from './connect-once.ts';
import { throwIfUnusable } from './name-in-use.ts';
import { seenIn } from './seen-upstream.ts';
import { printReport, reportJson, type SeenUpstream } from './tool-report.ts';
import type { AddFlags } from './upstream-flags.ts';
import { atServer, dataFolderOf } from './upstream-target.ts';
import { waitForUpstreams } from './wait-for-upstream.ts';

/** An upstream to add. */
export type NewUpstream =
  | { readonly kind: 'mcp'; readonly name: string; readonly config: McpUpstreamConfig }
  | { readonly kind: 'openapi'; readonly name: string; readonly config: OpenApiConfig };

/** Adds an upstream to the data folder, tells the server, and shows its tools. */
export async function addUpstream(context: CliContext, added: NewUpstream, flags: AddFlags): Promise<void> {
  const { name, kind, config } = added;
  const dataFolder = dataFolderOf(context, flags);
  throwIfUnusable(context, dataFolder, name);
  const settings = settingsOf(context, dataFolder, added);
  const changed = await changeUpstreams(context, dataFolder, {
    apply: (config) => merged(config, added),
    undo: (config) => without(config, [name]),
  });
  const { output } = context;
  output.note(`${name} is added to ${changed.file}. ${whenConnected(changed)}`);
  const seen = flags.check ? await seenBy(context, { changed, dataFolder, name, kind, settings }) : null;
  if (flags.json === true)
    output.json({
      name,
      kind,
      file: changed.file,
      server: changed.url,
      ...(seen === null ? {} : reportJson(seen)),
    });
  else if (seen !== null) printReport(output, seen);
  if (seen === null || seen.state === 'connected') return;
  if (changed.url !== null && 'command' in config)
    output.note('What its process wrote is in the log of the server, as upstream.stderr.');
  output.note(
    changed.url === null
      ? `It stays in ${changed.file}. Remove it with: patchboard ${kind} remove ${name}`
      : `${seen.state === 'failed' ? 'The server does not try again.' : 'The server keeps trying.'} Remove it with: patchboard ${kind} remove ${name}; see its state with: patchboard ${kind} list`,
  );
  context.exitWith(EXIT.unreachable);
}

export function whenConnected({ url, reloaded }: Changed): string {
  if (url === null) return 'No server runs on this data folder; the next start connects it.';
  return reloaded === null
    ? `Restart the server at ${url} to connect it.`
    : `The server at ${url} connects it.`;
}

interface Added {
  readonly changed: Changed;
  readonly dataFolder: string;
  readonly name: string;
  readonly kind: UpstreamKind;
  readonly settings: UpstreamsSettings | null;
}

async function seenBy(context: CliContext, added: Added): Promise<SeenUpstream | null> {
  const { changed, dataFolder, name, settings } = added;
  const { url } = changed;
  if (url === null) return settings === null ? null : await connectOnce(context, settings, dataFolder);
  const [view] = await atServer(context, { url, dataFolder }, (client) =>
    waitForUpstreams(context, client, [name]),
  );
  return view === undefined ? null : seenIn(view);
}

function merged(config: UpstreamsConfig, added: NewUpstream): UpstreamsConfig {
  return added.kind === 'mcp'
    ? { ...config, upstreams: { ...config.upstreams, [added.name]: added.config } }
    : { ...config, openapi: { ...config.openapi, [added.name]: added.config } };
}

/**
 * Resolves the settings with the environment of this command, to find mistakes before they are stored. Returns null if a
 * variable is not set here: that of the server decides.
 */
function settingsOf(context: CliContext, dataFolder: string, added: NewUpstream): UpstreamsSettings | null {
  const file = { file: upstreamFileIn(dataFolder), value: merged({}, added), lineOf: () => 1 };
  try {
    return resolveUpstreams(context.environment, null, file);
  } catch (error) {
    if (!(error instanceof MissingVariable)) throw error;
    context.output.note(
      `The variable ${error.variable} is not set here. The server needs it when it starts.`,
    );
    return null;
  }
}
