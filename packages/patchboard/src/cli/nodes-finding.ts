import { PatchboardError } from '@patchboard/client';
import type { NodesView } from '@patchboard/wire';
import type { CliContext, ServerOptions } from './context.ts';
import type { Finding } from './database/database-findings.ts';
import { asOperator } from './operator-client.ts';

const check = 'nodes';

/** The nodes of the running server, with a warning if they were started differently. Returns nothing for a single one. */
export async function nodeFindings(context: CliContext, options: ServerOptions): Promise<Finding[]> {
  try {
    return findingsOf(await asOperator(context, options, (client) => client.nodes()));
  } catch (error) {
    if (!(error instanceof PatchboardError)) throw error;
    return [{ check, ok: true, detail: `not shown: ${error.detail}` }];
  }
}

function findingsOf({ nodes, same_config: isSame }: NodesView): Finding[] {
  const living = nodes.filter(({ state }) => state !== 'free');
  if (nodes.length < 2) return [];
  const names = living.map(
    ({ writer, state, version }) => `${writer} is ${state}, version ${version ?? 'unknown'}`,
  );
  const detail = names.join('; ');
  if (isSame) return [{ check, ok: true, detail }];
  const advice =
    'their configurations, packs or hooks differ: compare CONFIG of patchboard nodes, and start them alike';
  return [{ check, ok: true, warning: true, detail: `${detail}; ${advice}` }];
}
