import type { Exchange } from './exchange.ts';
import { membersOf, resultJson } from './messages/result-json.ts';
import { META, MODERN_VERSION, TASKS_EXTENSION } from '../../protocols/mcp/revisions.ts';

export const INSTRUCTIONS: string =
  'Every tool call is recorded before it runs. A call that takes long, or that a person must approve, returns a receipt ' +
  'or a task: fetch its result later instead of calling the tool again. To repeat a call safely, send the same ' +
  '_meta["patchboard/idempotency_key"].';

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
  extensions: { [TASKS_EXTENSION]: {} },
};

const MEMBERS = membersOf({
  supportedVersions: [MODERN_VERSION],
  capabilities: CAPABILITIES,
  instructions: INSTRUCTIONS,
  ttlMs: 3_600_000,
  cacheScope: 'public',
});

/** `server/discover`: the same for every client. */
export function discover({ context }: Pick<Exchange, 'context'>): string {
  return resultJson('modern', MEMBERS, { meta: { [META.instance]: context.engine.instanceId } });
}
