import { setTimeout as pause } from 'node:timers/promises';
import { connectionOptions } from '../../packages/patchboard/src/postgres/connection-options.ts';
import { Connection } from '../../packages/patchboard/src/postgres/connection.ts';
import type { PostgresVersion } from '../../packages/patchboard/test/services/postgres-binaries.ts';
import { startPostgres, type PostgresService } from '../../packages/patchboard/test/services/postgres.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Epoch milliseconds, by the id of the call. */
export interface CommitTimes {
  readonly stored: ReadonlyMap<string, number>;
  readonly ended: ReadonlyMap<string, number>;
}

/** A PostgreSQL server with durable commits, and the ways to interrupt it. */
export class FragileDatabase {
  readonly #service: PostgresService;
  #kills = 0;

  private constructor(service: PostgresService) {
    this.#service = service;
  }

  static async start(version: PostgresVersion): Promise<FragileDatabase> {
    return new FragileDatabase(await startPostgres({ version, durable: true, settings: SETTINGS }));
  }

  get url(): string {
    return this.#service.url;
  }

  /** How often it ended without a checkpoint. */
  get kills(): number {
    return this.#kills;
  }

  /** `kill`: SIGKILL to the postmaster; `immediate`: SIGQUIT; `fast`: with a checkpoint. */
  async stop(how: 'kill' | 'immediate' | 'fast'): Promise<void> {
    if (how !== 'fast') this.#kills += 1;
    if (how === 'kill') await this.#service.kill();
    else await this.#service.stop(how);
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    await this.#service.start();
  }

  /** Terminates some connections of other processes, one after the other. Returns their number. */
  async terminateConnections(random: SeededRandom): Promise<number> {
    const connection = this.#connect();
    try {
      let terminated = 0;
      for (let left = random.between(1, 6); left > 0; left -= 1) {
        const { rows } = await connection.query<{ pid: number }>(OTHERS);
        if (rows.length === 0) continue;
        const { pid } = random.pick(rows);
        await connection.query(TERMINATE, [pid]);
        terminated += 1;
        await pause(random.between(0, 60));
      }
      return terminated;
    } finally {
      await connection.close();
    }
  }

  /** Returns when the first record of each call was committed, and its end, both in epoch milliseconds. */
  async commitTimes(schema: string): Promise<CommitTimes> {
    const connection = this.#connect();
    const read = async (table: string): Promise<Map<string, number>> => {
      const { rows } = await connection.query<{ id: string; at: string }>({
        name: `commits_of_${table}`,
        text: `select id, extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 as at from "${schema}".${table}`,
      });
      return new Map(rows.map(({ id, at }) => [id, Number(at)]));
    };
    try {
      return { stored: await read('calls'), ended: await read('ended_calls') };
    } finally {
      await connection.close();
    }
  }

  async close(): Promise<void> {
    await this.#service.close();
  }

  #connect(): Connection {
    return new Connection({ options: connectionOptions(this.url), name: 'chaos', prepare: false });
  }
}

/** `commitTimes` needs them. */
const SETTINGS = { track_commit_timestamp: 'on' };

const OTHERS = {
  name: 'other_connections',
  text: `select pid from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid() order by application_name`,
};
const TERMINATE = { name: 'terminate', text: 'select pg_terminate_backend($1)' };
