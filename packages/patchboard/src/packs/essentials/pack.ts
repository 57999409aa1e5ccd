import type { Pack } from '../../core/tools/server-tool.ts';
import type { OwnStore } from '../../postgres/own-store.ts';
import { calculationTool } from './calculation/tool.ts';
import { resolveTarget } from './database/target.ts';
import { databaseTool } from './database/tool.ts';
import type { Fetch } from './weather/fetch-json.ts';
import { weatherTool } from './weather/tool.ts';

export interface EssentialsOptions {
  readonly weather: {
    /** Origin of Open-Meteo's forecast service; `/v1/forecast` is added. */
    readonly forecastUrl: string;
    /** Origin of its geocoding service; `/v1/search` is added. */
    readonly geocodingUrl: string;
    /** Default: the global `fetch`. */
    readonly fetch?: Fetch;
  };
  readonly database: {
    /** A PostgreSQL URL or the path of a SQLite file; null for the included sample shop. */
    readonly target: string | null;
    /** The file of the sample; written by the first query. */
    readonly sampleFile: string;
    /** The platform's own store and other files that no query may read; compared by path, real path and inode. */
    readonly forbiddenFiles: readonly string[];
    /** The platform's own store in PostgreSQL: refused for a role that can read it. Default: none. */
    readonly ownStore?: OwnStore | null;
  };
  /** Epoch milliseconds. */
  now(): number;
}

const WEATHER_BUDGET_MS = 4000;
const QUERY_PROCESSES = 4;
const IDLE_MS = 60_000;
const MIB = 1024 * 1024;
const QUERY_LIMITS = {
  maxRows: 1000,
  maxBytes: MIB / 2,
  maxValueBytes: MIB,
  maxMemoryBytes: 384 * MIB,
};

/** Tools for weather, SQL and arithmetic. Throws if the configured database is forbidden. */
export function essentialsPack(options: EssentialsOptions): Pack {
  const database = databaseTool({
    target: resolveTarget(options.database.target, options.database.sampleFile),
    forbidden: { files: options.database.forbiddenFiles, store: options.database.ownStore ?? null },
    limits: QUERY_LIMITS,
    maxProcesses: QUERY_PROCESSES,
    idleMs: IDLE_MS,
    now: () => options.now(),
  });
  const weather = weatherTool({
    forecastUrl: options.weather.forecastUrl,
    geocodingUrl: options.weather.geocodingUrl,
    fetch: options.weather.fetch ?? globalThis.fetch,
    budgetMs: WEATHER_BUDGET_MS,
    now: () => options.now(),
  });
  return {
    name: 'essentials',
    tools: [weather, database.tool, calculationTool()],
    close: () => database.close(),
  };
}
