import type { NodeKey } from '../../cluster/node-table.ts';
import type {
  CountedDevice,
  DeviceDirectory,
  DeviceQuery,
  ListedDevice,
} from '../../core/device-directory.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable } from '../../postgres/connection.ts';
import type { Tables } from './schema.ts';

export interface DeviceTableParts {
  readonly connection: Queryable;
  readonly tables: Tables;
  readonly node: NodeKey;
}

interface DeviceRow {
  readonly session: string;
  readonly first_session: string;
  readonly tenant: string;
  readonly client_id: string;
  readonly name: string;
  readonly is_online: boolean;
  readonly connected_at: number;
  readonly tools: readonly string[];
  readonly open_calls: number;
}

/** The devices of all nodes of the store. */
export class DeviceTable implements DeviceDirectory {
  readonly #parts: DeviceTableParts;

  constructor(parts: DeviceTableParts) {
    this.#parts = parts;
  }

  async save(present: readonly ListedDevice[], gone: readonly string[]): Promise<void> {
    const { connection, tables, node } = this.#parts;
    const insert = `insert into ${tables.devices}
        (session, writer, epoch, first_session, tenant, client_id, name, is_online, connected_at, tools)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (session) do update set is_online = excluded.is_online, tools = excluded.tools`;
    for (const device of present) {
      const { session, firstSession, tenant, clientId, name, isOnline, connectedAt, tools } = device;
      const names = [session, node.writer, node.epoch, firstSession, tenant, clientId, name];
      const values = [...names, isOnline, connectedAt, textArray(tools)];
      await connection.query({ name: 'save_device', text: insert }, values);
    }
    if (gone.length === 0) return;
    const remove = `delete from ${tables.devices} where session = any($1::text[])`;
    await connection.query({ name: 'remove_devices', text: remove }, [textArray(gone)]);
  }

  async offersElsewhere(tenant: string, toolName: string, target: string): Promise<boolean> {
    const { connection, tables, node } = this.#parts;
    const text = `select 1 as found from ${tables.devices} d where tenant = $1
      and (session = $2 or name = $2 or client_id = $2) and $3 = any(tools) and writer <> $4
      and ${isLiving(tables)} limit 1`;
    const values = [tenant, target, toolName, node.writer];
    return (await connection.query({ name: 'device_offers', text }, values)).count > 0;
  }

  async listElsewhere({ tenant, clientId, before, limit }: DeviceQuery): Promise<readonly CountedDevice[]> {
    const { connection, tables, node } = this.#parts;
    // The calls of a device name the first of its sessions.
    const text = `select session, first_session, tenant, client_id, name, is_online, connected_at, tools,
        (select count(*)::int from ${tables.open_calls} o where o.client_id = d.client_id
          and o.tail like '%"deviceSession":"' || d.first_session || '"%') as open_calls
      from ${tables.devices} d where tenant = $1 and ($2::text is null or client_id = $2)
        and ($3::text is null or session < $3) and writer <> $4 and ${isLiving(tables)}
      order by session desc limit $5`;
    const values = [tenant, clientId ?? null, before, node.writer, limit];
    const { rows } = await connection.query<DeviceRow>({ name: 'list_devices', text }, values);
    return rows.map(deviceOf);
  }

  async countElsewhere(tenant: string): Promise<number> {
    const { connection, tables, node } = this.#parts;
    const text = `select count(*)::int as devices from ${tables.devices} d
      where tenant = $1 and is_online and writer <> $2 and ${isLiving(tables)}`;
    const values = [tenant, node.writer];
    const { rows } = await connection.query<{ devices: number }>({ name: 'count_devices', text }, values);
    return rows[0]?.devices ?? 0;
  }

  /** Removes the devices of nodes that are gone. */
  async clean(): Promise<void> {
    const { connection, tables } = this.#parts;
    const text = `delete from ${tables.devices} d where not ${isLiving(tables)}`;
    await connection.query({ name: 'clean_devices', text });
  }
}

function isLiving({ writers }: Tables): string {
  return `exists (select from ${writers} w where w.writer = d.writer and w.epoch = d.epoch and w.state <> 'free')`;
}

function deviceOf(row: DeviceRow): CountedDevice {
  const { session, tenant, name, tools } = row;
  return {
    session,
    tenant,
    name,
    tools,
    firstSession: row.first_session,
    clientId: row.client_id,
    isOnline: row.is_online,
    connectedAt: row.connected_at,
    openCalls: row.open_calls,
  };
}
