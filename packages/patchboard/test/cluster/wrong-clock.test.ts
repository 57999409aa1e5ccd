import { SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { aCluster } from './support/a-node.ts';

const SECRET = 'a secret of the issuer, with more than 32 characters';
const DAY_MS = 86_400_000;

it('a node whose clock is wrong by forty days records and compares the time of the database', async () => {
  const cluster = await aCluster(
    'auth: { jwt: { issuer: https://issuer.example, audience: patchboard, secret_env: JWT_SECRET } }',
  );
  const node = await cluster.join({
    JWT_SECRET: SECRET,
    TEST_CLOCK_OFFSET_MS: String(40 * DAY_MS),
  });
  const token = await new SignJWT({ kind: 'agent' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('https://issuer.example')
    .setAudience('patchboard')
    .setSubject('agent-1')
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(SECRET));
  const tools = await fetch(`${node.url}/v1/tools`, { headers: { authorization: `Bearer ${token}` } });
  expect(tools.status).toBe(200);

  await fetch(`${node.url}/v1/tools`, { headers: { authorization: `Bearer op_${'x'.repeat(40)}` } });
  expect(await node.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED' });
  const rows = await cluster.query(
    `select kind, period, to_char(now() at time zone 'utc', 'YYYYMM')::int as month,
       abs(at - extract(epoch from now()) * 1000) as off_ms from ledger`,
  );
  expect(rows.map(({ kind }) => kind)).toContain('operator_token.refused');
  for (const { kind, period, month, off_ms: offMs } of rows) {
    expect(Number(offMs), String(kind)).toBeLessThan(DAY_MS);
    expect(period, String(kind)).toBe(month);
  }
});
