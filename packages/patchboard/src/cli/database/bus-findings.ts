import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bus } from '../../cluster/bus.ts';
import { messageOf } from '../../core/failures.ts';
import type { Log } from '../../core/ports.ts';
import { connectClient } from '../../postgres/client.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { connectAdvice } from '../../postgres/sql-errors.ts';
import { busSettings, type BusSettings } from '../../settings/bus-settings.ts';
import { ConfigError } from '../../settings/config-file.ts';
import type { Environment } from '../../settings/environment.ts';
import { storeSettings } from '../../settings/store-settings.ts';
import { openBus } from '../../wiring/open-bus.ts';
import { configIn } from '../store-location.ts';
import type { Finding } from './database-findings.ts';

const LIMIT_MS = 5000;
const POLL_MS = 5;
const check = 'bus';

/**
 * Checks the bus of several nodes. Returns nothing if it is in a database that cannot be opened, and if the settings are wrong:
 * other checks report these.
 */
export async function busFindings(given: Environment, ofDatabase: readonly Finding[]): Promise<Finding[]> {
  const isUnreachable = ofDatabase.length === 1 && ofDatabase[0]?.ok === false;
  const settings = busIn(given);
  if (settings === null || (settings.kind === 'postgres' && isUnreachable)) return [];
  return [await busFinding(settings)];
}

function busIn(given: Environment): BusSettings | null {
  try {
    const config = configIn(given);
    return busSettings(given, config, storeSettings(given, config));
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

/** Sends a notification over the bus that several nodes would use, on a channel of its own. */
async function busFinding(settings: BusSettings): Promise<Finding> {
  const name = nameOf(settings);
  if (settings.kind === 'postgres') {
    const options = connectionOptions(settings.url);
    try {
      await (await connectClient(options, 'doctor')).end();
    } catch (error) {
      const detail = `${options.shown} cannot be opened (${messageOf(error)}); ${connectAdvice(error)}`;
      return { check, ok: false, detail };
    }
  }
  const warnings = new Map<string, string>();
  const log: Log = {
    info: () => {},
    warn: (event, { message } = {}) => void warnings.set(event, String(message)),
    error: () => {},
  };
  const clusterId = randomUUID();
  const buses = await Promise.all([1, 2].map((writer) => openBus(settings, { clusterId, writer, log })));
  try {
    const ms = await roundTrip(buses, () => warnings.size > 0);
    if (ms !== null) return { check, ok: true, detail: `${name}, ${ms.toFixed(2)} ms from node to node` };
    if (warnings.has('bus.pooled')) return { check, ok: true, warning: true, detail: POOLED };
    const [problem = `no notification arrived within ${LIMIT_MS / 1000} s`] = warnings.values();
    return { check, ok: false, detail: `${name}: ${problem}` };
  } finally {
    await Promise.all(buses.map((bus) => bus.close()));
  }
}

function nameOf(settings: BusSettings): string {
  switch (settings.kind) {
    case 'postgres':
      return 'LISTEN and NOTIFY';
    case 'nats':
      return `NATS at ${settings.options.shown}`;
  }
}

const POOLED =
  'notifications do not pass the pooler, and a second node would be slow to notice the first: before you start one, set ' +
  'DATABASE_LISTEN_URL to a URL of the same database without the pooler, or NATS_URL';

/** Returns the milliseconds between two nodes; null if a problem is known, or after the limit. */
async function roundTrip(buses: readonly Bus[], hasProblem: () => boolean): Promise<number | null> {
  const [sender, receiver] = buses;
  const began = performance.now();
  const until = async (condition: () => boolean): Promise<boolean> => {
    while (!condition()) {
      if (hasProblem() || performance.now() - began > LIMIT_MS) return false;
      await delay(POLL_MS);
    }
    return true;
  };
  if (!(await until(() => buses.every((bus) => bus.isConnected)))) return null;
  let arrivedAt: number | null = null;
  receiver?.listen(() => (arrivedAt = performance.now()));
  const sentAt = performance.now();
  sender?.send('all', { kind: 'work' });
  return (await until(() => arrivedAt !== null)) ? (arrivedAt ?? sentAt) - sentAt : null;
}
