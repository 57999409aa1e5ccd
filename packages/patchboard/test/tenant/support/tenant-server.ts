import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TraceLedgerView } from '@patchboard/wire';
import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { HERITAGE_FILE } from '../../../src/packs/heritage/names.ts';
import { YANTIAN } from '../../../src/packs/heritage/sample/yantian.ts';
import { sqliteHeritageStorage } from '../../../src/packs/heritage/sqlite/sqlite-storage.ts';
import { aDataFolder, aPlatform, type TestPlatform } from '../../guard/support/a-platform.ts';
import type { TestResponse } from '../../guard/support/ask.ts';

const YANTIAN_KEY = 'an-internal-key-of-yantian';
export const MUYUAN_KEY = 'an-internal-key-of-muyuan';

/** Two tenants of one server, both with the heritage tools; the data is that of the first one's main site. */
const TENANTS = {
  yantian: { sites: ['yantian-main', 'yantian-hill'], packs: ['heritage', 'guarded'] },
  muyuan: { sites: ['muyuan-main', 'yantian-main'], packs: ['heritage'] },
};

export type Headers = Readonly<Record<string, string>>;

export const OWN: Headers = {
  'x-tenant-id': 'yantian',
  'x-site-id': 'yantian-main',
  'x-trace-id': 'trace-own',
  'x-internal-api-key': YANTIAN_KEY,
};

/** A response of the tenant API to a call. */
export interface CallResponse {
  readonly success: boolean;
  readonly output?: Record<string, unknown>;
  readonly cached?: boolean;
  readonly cache_age_ms?: number;
  readonly error?: string;
  readonly error_type?: string;
  readonly audit: Record<string, unknown>;
}

export interface TenantServer extends TestPlatform {
  call(toolName: string, input?: unknown, headers?: Headers, context?: unknown): Promise<TestResponse>;
  /** The entries of a trace, as an operator of the tenant reads them. */
  trace(traceId: string, tenant?: string): Promise<readonly TraceLedgerView[]>;
}

export interface TenantServerGiven {
  readonly tools?: readonly ServerTool[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
}

export async function aTenantServer(given: TenantServerGiven = {}): Promise<TenantServer> {
  const folder = aDataFolder();
  mkdirSync(folder.path, { mode: 0o700 });
  const storage = sqliteHeritageStorage(join(folder.path, HERITAGE_FILE));
  await storage.importSite({ tenant: 'yantian', site: 'yantian-main' }, YANTIAN);
  await storage.close();
  const platform = await aPlatform({
    folder,
    tools: given.tools ?? [],
    config: {
      tenants: TENANTS,
      auth: {
        internal_keys: [
          { tenant: 'yantian', key_env: 'KEY_OF_YANTIAN' },
          { tenant: 'muyuan', key_env: 'KEY_OF_MUYUAN' },
        ],
      },
      ...given.config,
    },
    environment: { KEY_OF_YANTIAN: YANTIAN_KEY, KEY_OF_MUYUAN: MUYUAN_KEY, ...given.environment },
  });
  return {
    ...platform,
    call: async (toolName, input, headers = OWN, context) =>
      await platform.ask({
        method: 'POST',
        path: '/api/tools/call',
        headers,
        body: { tool_name: toolName, input, context },
      }),
    trace: async (traceId, tenant = 'yantian') => {
      const path = `/v1/trace_ledger?trace_id=${traceId}`;
      const { json } = await platform.asOperator('GET', path, undefined, tenant);
      return (json as { trace_ledger: TraceLedgerView[] }).trace_ledger;
    },
    close: async () => {
      await platform.close();
      folder.remove();
    },
  };
}

export function callResponse({ status, json, text }: TestResponse): CallResponse {
  if (status !== 200) throw new Error(`returned ${status}: ${text}`);
  return json as CallResponse;
}
