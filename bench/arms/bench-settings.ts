import { resolveSettings, type Settings } from '../../packages/patchboard/src/settings/settings.ts';
import { OPERATOR_TOKEN } from '../key.ts';

/** Where a server of the benchmark keeps its data. */
export interface StorePlace {
  readonly folder: string;
  /** PostgreSQL. Default: SQLite in `folder`. */
  readonly databaseUrl?: string;
  /** What carries notifications between nodes. Default: PostgreSQL. */
  readonly natsUrl?: string;
}

/** The settings of a fresh server on a free port. */
export function settingsFor({ folder, databaseUrl, natsUrl }: StorePlace): Settings {
  const environment = {
    PORT: '0',
    PATCHBOARD_DATA: folder,
    PATCHBOARD_OPERATOR_TOKEN: OPERATOR_TOKEN,
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
  };
  // The rate limit of a key would bound the load.
  const rates = { principal: null, tenant: null, tool: null, tools: new Map<string, never>() };
  // No balancer has to notice that it leaves.
  return { ...resolveSettings(environment, {}), rates, drainDelayMs: 0 };
}
