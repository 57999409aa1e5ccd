import { resolveSettings, type Settings } from '../../packages/patchboard/src/settings/settings.ts';
import { OPERATOR_TOKEN } from '../key.ts';

/** Where a server of the benchmark keeps its data. */
export interface StorePlace {
  readonly folder: string;
  /** PostgreSQL. Default: SQLite in `folder`. */
  readonly databaseUrl?: string;
}

/** The settings of a fresh server on a free port. */
export function settingsFor({ folder, databaseUrl }: StorePlace): Settings {
  const environment = {
    PORT: '0',
    PATCHBOARD_DATA: folder,
    PATCHBOARD_OPERATOR_TOKEN: OPERATOR_TOKEN,
    DATABASE_URL: databaseUrl,
  };
  // The rate limit of a key would bound the load.
  const rates = { principal: null, tenant: null, tool: null, tools: new Map<string, never>() };
  return { ...resolveSettings(environment, {}), rates };
}
