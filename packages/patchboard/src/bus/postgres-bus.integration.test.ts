import { describe, expect, it, onTestFinished } from 'vitest';
import { startPgbouncer } from '../../test/services/pgbouncer.ts';
import { startPostgres } from '../../test/services/postgres.ts';
import { startProxy } from '../../test/services/proxy.ts';
import { sharedPostgres } from '../../test/services/shared-postgres.ts';
import { queryOnce } from '../../test/services/with-client.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Log } from '../core/ports.ts';
import { connectionOptions } from '../postgres/connection-options.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';
import { describeBus } from './bus.contract.ts';
import { PostgresBus } from './postgres-bus.ts';

describeBus('the bus over PostgreSQL', async () => {
  const server = await startPostgres();
  const options = connectionOptions(server.url);
  return {
    join: (clusterId, writer, log) => new PostgresBus({ options, clusterId, writer, log }),
    sendText: async (clusterId, text) => {
      await queryOnce(server.url, 'select pg_notify($1, $2)', [`pb_${clusterId}_all`, text]);
    },
    stop: () => server.stop('immediate'),
    start: () => server.start(),
    close: () => server.close(),
  };
});

describe('a bus over PostgreSQL', () => {
  const clusterId = '5f0c6c1e-6f5e-4c43-9a53-0d6b3f7c0a13';

  function join(url: string, writer: number, log: Log = SILENT_LOG): PostgresBus {
    const bus = new PostgresBus({ options: connectionOptions(url), clusterId, writer, log });
    onTestFinished(() => bus.close());
    return bus;
  }

  function revisionsAt(bus: PostgresBus): number[] {
    const revisions: number[] = [];
    bus.listen((given) => void (given.kind === 'config' && revisions.push(given.revision)));
    return revisions;
  }

  it('sends all notifications of one turn in one statement', async () => {
    const { url } = await sharedPostgres(15);
    const [a, b] = [join(url, 1), join(url, 2)];
    const revisions = revisionsAt(b);
    await waitFor(() => expect([a.isConnected, b.isConnected]).toEqual([true, true]));
    // PostgreSQL delivers equal notifications of one transaction once.
    for (const revision of [1, 1, 2, 1]) a.send('all', { kind: 'config', revision });
    await waitFor(() => expect(revisions).toContain(2));
    a.send('all', { kind: 'config', revision: 3 });
    await waitFor(() => expect(revisions).toEqual([1, 2, 3]));
  });

  it('behind a pooler sends but does not receive, and logs what to do', async () => {
    const server = await sharedPostgres(15);
    const pooler = await startPgbouncer(server);
    onTestFinished(() => pooler.stop());
    const warnings: string[] = [];
    const log = {
      ...SILENT_LOG,
      warn: (event: string, fields = {}) => warnings.push(event + JSON.stringify(fields)),
    };
    const direct = join(server.url, 2);
    const revisions = revisionsAt(direct);
    await waitFor(() => expect(direct.isConnected).toBe(true));
    const pooled = join(pooler.url, 1, log as Log);
    pooled.send('all', { kind: 'config', revision: 1 });
    await waitFor(() => expect(revisions).toEqual([1]));
    expect(pooled.isConnected).toBe(false);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^bus\.pooled.*set DATABASE_LISTEN_URL .* or NATS_URL/);
  });

  it('finds a link that is silent without being closed, says so once, and connects again', async () => {
    const server = await sharedPostgres(15);
    const proxy = await startProxy(server.url);
    onTestFinished(() => proxy.close());
    const warnings: string[] = [];
    const warn: Log['warn'] = (event, fields = {}) => void warnings.push(event + JSON.stringify(fields));
    const bus = join(proxy.through(server.url), 1, { ...SILENT_LOG, warn });
    const direct = join(server.url, 2);
    const revisions = revisionsAt(bus);
    await waitFor(() => expect([bus.isConnected, direct.isConnected]).toEqual([true, true]));
    proxy.freeze();
    await waitFor(() => expect(bus.isConnected).toBe(false));
    await waitFor(() => expect(warnings).toEqual([expect.stringMatching(/^bus\.disconnected.*"postgres"/)]));
    proxy.pass();
    await waitFor(() => expect(bus.isConnected).toBe(true));
    direct.send('all', { kind: 'config', revision: 5 });
    await waitFor(() => expect(revisions).toEqual([5]));
    expect(warnings).toHaveLength(1);
  });
});
