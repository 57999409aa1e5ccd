import { resolve } from 'node:path';
import type { UpstreamView } from '@patchboard/wire';
import { OPERATOR_NAME } from '../core/access/principal.ts';
import type { Engine } from '../core/engine.ts';
import { failure, foreignText } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';
import { BoardError } from '../sdk/board-error.ts';
import { ConfigError } from '../settings/config-file.ts';
import { environment } from '../settings/environment.ts';
import { allUpstreams, resolveUpstreams } from '../settings/read-upstreams.ts';
import type { UpstreamsConfig } from '../settings/upstream-config.ts';
import { parseUpstreamFile } from '../settings/upstream-file.ts';
import { SecretMask } from '../sources/shared/secret-mask.ts';
import { upstreamView } from '../transports/shared/views/upstream-view.ts';
import { embeddedPrincipal, type EngineContext } from '../wiring/engine-context.ts';
import { makeUpstream } from '../wiring/make-upstream.ts';
import { resolveWorkspace } from '../wiring/sandbox-setup.ts';

/** The MCP servers and HTTP APIs behind a board. */
export interface BoardUpstreams {
  /** Returns state, tools, changed contracts and rejected tools of each. */
  list(): readonly UpstreamView[];
  /** Resolves when the tools of each upstream were listed, or its first attempt to connect failed, or the board closes. */
  settled(): Promise<void>;
  /** Ends the connection and connects again. Throws `BoardError` if there is no such upstream. */
  restart(name: string): Promise<void>;
  /** Accepts the changed contracts of an upstream, or of one of its tools. Returns the names of the tools. */
  accept(name: string, tool?: string): Promise<readonly string[]>;
}

/** `closing`: aborted when the board begins to close. */
export function boardUpstreams({ upstreams, feed }: Engine, closing: AbortSignal): BoardUpstreams {
  const isSettled = (): boolean =>
    upstreams
      .list()
      .every(({ status: { state }, isListed }) => isListed || state === 'disconnected' || state === 'failed');
  return {
    list: () => upstreams.list().map(upstreamView),
    settled: async () => {
      if (isSettled() || closing.aborted) return;
      await new Promise<void>((resolve) => {
        const end = (): void => {
          stop();
          closing.removeEventListener('abort', end);
          resolve();
        };
        const stop = feed.listen(({ type }) => {
          if (type === 'upstream.changed' && isSettled()) end();
        });
        closing.addEventListener('abort', end);
      });
    },
    restart: async (name) => {
      const problem = await upstreams.restart(name);
      if (problem !== null) throw new BoardError(problem);
    },
    accept: async (name, tool) => {
      const offered = new Map(upstreams.find(name)?.tools.map((one) => [one.name, one.version]));
      const names = tool === undefined ? [...offered.keys()] : [tool];
      const versions = Object.fromEntries(names.map((one) => [one, offered.get(one) ?? '']));
      const accepted = await upstreams.accept(embeddedPrincipal(OPERATOR_NAME), name, versions);
      if ('code' in accepted) throw new BoardError(accepted);
      return accepted;
    },
  };
}

/** How errors name the place. */
const PLACE = 'createPatchboard';

/** Adds the upstreams of a board to an engine that is not started yet. Throws `BoardError` if one is invalid. */
export async function addBoardUpstreams(
  { engine, schemas, clock }: Pick<EngineContext, 'engine' | 'schemas' | 'clock'>,
  { upstreams = {}, openapi = {} }: UpstreamsConfig,
  { folder, log }: { readonly folder: string | null; readonly log: Log },
): Promise<void> {
  if (Object.keys(upstreams).length + Object.keys(openapi).length === 0) return;
  try {
    const given = parseUpstreamFile(JSON.stringify({ upstreams, openapi }), PLACE);
    const resolved = resolveUpstreams(environment(), null, given);
    const surroundings = {
      log,
      clock,
      mask: new SecretMask(resolved.secretValues),
      limits: engine.limits,
      schemas,
      environment: environment(),
      workspace: resolveWorkspace({}),
      dataFolder: resolve(folder ?? '.patchboard'),
      instanceId: engine.instanceId,
    };
    for (const one of allUpstreams(resolved)) engine.upstreams.add(await makeUpstream(one, surroundings));
  } catch (error) {
    if (error instanceof ConfigError)
      throw new BoardError(failure('body_invalid', foreignText(error.message)));
    throw error;
  }
}
