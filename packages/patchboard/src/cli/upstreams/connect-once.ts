import { randomUUID } from 'node:crypto';
import { jsonSchemas } from '../../schemas/json-schemas.ts';
import { DEFAULT_LIMITS } from '../../core/limits.ts';
import type { Upstream } from '../../core/upstreams/upstream.ts';
import { nodeClock } from '../../runtime/node-clock.ts';
import { SILENT_LOG } from '../../runtime/silent-log.ts';
import { allUpstreams, type UpstreamsSettings } from '../../settings/read-upstreams.ts';
import { SecretMask } from '../../sources/shared/secret-mask.ts';
import { cleanOnSignal } from '../clean-on-signal.ts';
import type { CliContext } from '../context.ts';
import type { SeenUpstream } from './tool-report.ts';

/** As long as a command waits for a server to connect. */
const WAIT_MS = 60_000;
/** Log event for a line that a process writes to its standard error, and how many of them are shown. */
const STDERR_EVENT = 'upstream.stderr';
const SHOWN_LINES = 20;

/** Connects to the one upstream of the settings, lists its tools, and ends the connection. */
export async function connectOnce(
  { environment, output }: CliContext,
  upstreams: UpstreamsSettings,
  dataFolder: string,
): Promise<SeenUpstream | null> {
  const [settings] = allUpstreams(upstreams);
  if (settings === undefined) return null;
  output.note(`connecting to ${settings.name} once`);
  // Loaded on demand: the libraries of upstreams slow down all other commands.
  const [{ makeUpstream }, { resolveWorkspace }] = await Promise.all([
    import('../../wiring/make-upstream.ts'),
    import('../../wiring/sandbox-setup.ts'),
  ]);
  const { PATH: searchPath } = environment;
  // A process that ends at once writes the reason there. A second attempt with another handshake repeats its lines.
  const lines = new Set<string>();
  const upstream = await makeUpstream(settings, {
    log: {
      ...SILENT_LOG,
      info: (event, fields) => void (event === STDERR_EVENT && lines.add(String(fields?.['line']))),
    },
    clock: nodeClock,
    mask: new SecretMask(upstreams.secretValues),
    limits: DEFAULT_LIMITS,
    schemas: jsonSchemas(),
    environment,
    workspace: resolveWorkspace({ create: true, ...(searchPath === undefined ? {} : { searchPath }) }),
    dataFolder,
    instanceId: randomUUID(),
  });
  // Its process has a group of its own, which a Ctrl-C in the terminal does not reach.
  const off = cleanOnSignal(() => upstream.close());
  try {
    const seen = await firstList(upstream);
    if (seen.state !== 'connected')
      for (const line of [...lines].slice(-SHOWN_LINES)) output.note(`  ${line}`);
    return seen;
  } finally {
    await upstream.close();
    off();
  }
}

/** Resolves with the first list of tools, with the first error, or after a minute. */
function firstList(upstream: Upstream): Promise<SeenUpstream> {
  return new Promise((resolve) => {
    const seen = (list: Pick<SeenUpstream, 'state' | 'tools' | 'rejected'>): void => {
      clearTimeout(timer);
      const { protocol, lastError } = upstream.status();
      const { name } = upstream.settings;
      resolve({ name, protocol, lastError: lastError?.message ?? null, ...list });
    };
    const unlisted = (): void => seen({ state: upstream.status().state, tools: [], rejected: [] });
    const timer = setTimeout(unlisted, WAIT_MS);
    upstream.start({
      listed: (tools, rejected) =>
        seen({ state: 'connected', tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)), rejected }),
      stateChanged: () => {
        const { state, lastError } = upstream.status();
        if (state === 'failed' || (state === 'disconnected' && lastError !== null)) unlisted();
      },
    });
  });
}
