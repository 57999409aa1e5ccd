import { PostgresBus } from '../bus/postgres-bus.ts';
import type { Bus } from '../cluster/bus.ts';
import type { Log } from '../core/ports.ts';
import { connectionOptions } from '../postgres/connection-options.ts';
import type { BusSettings } from '../settings/bus-settings.ts';

export interface BusParts {
  /** The id of the store. */
  readonly clusterId: string;
  readonly writer: number;
  readonly log: Log;
}

/** Returns the bus before it is connected. */
export async function openBus(settings: BusSettings, parts: BusParts): Promise<Bus> {
  if (settings.kind === 'postgres')
    return new PostgresBus({ ...parts, options: connectionOptions(settings.url) });
  // Loaded on demand: most servers have no NATS.
  const { NatsBus } = await import('../bus/nats-bus.ts');
  return new NatsBus({ ...parts, options: settings.options });
}
