import { describe, expect, it, onTestFinished } from 'vitest';
import { busFindings } from '../../src/cli/database/bus-findings.ts';
import type { Finding } from '../../src/cli/database/database-findings.ts';
import { startNats } from '../services/nats.ts';
import { startPgbouncer } from '../services/pgbouncer.ts';
import { sharedPostgres } from '../services/shared-postgres.ts';

async function findings(environment: Record<string, string>): Promise<Finding[]> {
  const found = await busFindings(environment, []);
  expect(JSON.stringify(found)).not.toContain('s3cr3t');
  return found;
}

describe('doctor checks the bus', () => {
  it('of PostgreSQL: a round trip, and what to do behind a pooler', async () => {
    const service = await sharedPostgres(15);
    const pooler = await startPgbouncer(service);
    onTestFinished(() => pooler.stop());
    const direct = await findings({ DATABASE_URL: service.url });
    expect(direct).toEqual([
      {
        check: 'bus',
        ok: true,
        detail: expect.stringMatching(/^LISTEN and NOTIFY, [\d.]+ ms from node to node$/),
      },
    ]);
    const pooled = await findings({ DATABASE_URL: pooler.url });
    expect(pooled).toEqual([
      {
        check: 'bus',
        ok: true,
        warning: true,
        detail: expect.stringContaining('set DATABASE_LISTEN_URL to a URL'),
      },
    ]);
    const both = await findings({ DATABASE_URL: pooler.url, DATABASE_LISTEN_URL: service.url });
    expect(both).toEqual(
      direct.map((finding) => ({ ...finding, detail: expect.stringContaining(' ms from') })),
    );
    const gone = await findings({
      DATABASE_URL: pooler.url,
      DATABASE_LISTEN_URL: 'postgres://x:s3cr3t@127.0.0.1:9/x',
    });
    expect(gone).toEqual([
      {
        check: 'bus',
        ok: false,
        detail: expect.stringMatching(/^postgres:\/\/x@127\.0\.0\.1:9\/x cannot be opened/),
      },
    ]);
  });

  it('of NATS: a round trip, a wrong password, and none on SQLite', async () => {
    const { url } = await sharedPostgres(15);
    const nats = await startNats(['authorization { user: ann, password: s3cr3t }']);
    onTestFinished(() => nats.close());
    const address = `127.0.0.1:${nats.port}`;
    const right = await findings({ DATABASE_URL: url, NATS_URL: `nats://ann:s3cr3t@${address}` });
    expect(right[0]?.detail).toMatch(new RegExp(`^NATS at nats://${address}, [\\d.]+ ms from node to node$`));
    const wrong = await findings({ DATABASE_URL: url, NATS_URL: `nats://ann:s3cr3t2@${address}` });
    expect(wrong).toMatchObject([{ ok: false, detail: expect.stringMatching(/authorization violation/i) }]);
    expect(await findings({})).toEqual([]);
    expect(await findings({ DATABASE_URL: 'mysql://x' })).toEqual([]);
    const closed: Finding = { check: 'postgres', ok: false, detail: '' };
    expect(await busFindings({ DATABASE_URL: url }, [closed])).toEqual([]);
  });
});
