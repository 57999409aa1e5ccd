import { ConfigError } from './config-file.ts';
import { MAX_DRAIN_DELAY_MS, type ConfigFile } from './config-schema.ts';
import type { Environment } from './environment.ts';

const VARIABLE = 'PATCHBOARD_DRAIN_DELAY_MS';
const DEFAULT_MS = 5000;

/**
 * Returns how long a node that leaves still serves requests while it is not ready. The environment takes precedence over the
 * config file.
 */
export function drainDelayMs(given: Environment, { http }: ConfigFile): number {
  const text = given[VARIABLE] ?? '';
  if (text === '') return http?.drain_delay_ms ?? DEFAULT_MS;
  const ms = Number(text);
  if (Number.isInteger(ms) && ms >= 0 && ms <= MAX_DRAIN_DELAY_MS) return ms;
  throw new ConfigError(
    `${VARIABLE} must be a whole number of milliseconds from 0 to ${MAX_DRAIN_DELAY_MS}, not "${text}"`,
  );
}
