import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startServer } from '../support/server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchboard-secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONFIG = {
  redact: ['password'],
  auth: {
    jwt: { issuer: 'https://issuer.example', audience: 'patchboard', secret_env: 'JWT_SECRET' },
    internal_keys: [{ tenant: 'yantian', key_env: 'VILLAGE_KEY' }],
  },
};

/** Long, and nothing that could stand anywhere by chance. */
function planted(name: string): string {
  return `planted-${name}-${'s3cr3t'.repeat(8)}`;
}

interface ParsedResponse {
  readonly status: number;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
  readonly headers: Headers;
}

async function ask(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<ParsedResponse> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { ...json, ...headers }, ...given });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const parsed: unknown = isJson && !text.includes('\n') ? JSON.parse(text) : null;
  return { status: response.status, text, json: parsed, headers: response.headers };
}

function filesUnder(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesUnder(join(path, name)));
}

it('no secret that was sent to a server is in its output, its ledger or its files', async () => {
  const configFile = join(folder, 'config.json');
  writeFileSync(configFile, JSON.stringify(CONFIG));
  const fromOutside = {
    jwt: planted('jwt'),
    internal: planted('internal'),
    wrongBearer: `pb_${planted('bearer')}`,
    wrongToken: `eyJhbGciOiJIUzI1NiJ9.${planted('token')}.x`,
    basic: planted('basic'),
    cookie: planted('cookie'),
    query: planted('query'),
    password: planted('password'),
    refused: planted('refused'),
    progress: planted('progress'),
  };
  const server = await startServer({
    PATCHBOARD_CONFIG: configFile,
    PATCHBOARD_LOG: 'debug',
    JWT_SECRET: fromOutside.jwt,
    VILLAGE_KEY: fromOutside.internal,
  });
  const { url } = server;
  const operatorToken = readFileSync(join(server.dataFolder, 'operator.token'), 'utf8').trim();
  const operator = { authorization: `Bearer ${operatorToken}` };
  const made = async (kind: string, name: string): Promise<string> =>
    (await ask(`${url}/v1/keys`, 'POST', operator, { kind, name })).json.key;
  const agentKey = await made('agent', 'ann');
  const clientKey = await made('client', 'vault');
  const agent = { authorization: `Bearer ${agentKey}` };
  const client = { authorization: `Bearer ${clientKey}` };

  // Arguments that name a secret: of a call that runs, and of one that is refused for what it holds.
  const { password, refused, progress } = fromOutside;
  const schema = { type: 'object', properties: { password: { type: 'string', maxLength: 100 }, note: {} } };
  const tools = [{ name: 'vault.open', schema }];
  await ask(`${url}/internal/tools/register`, 'POST', client, { client_id: 'vault', tools });
  const invoke = `${url}/v1/tools/vault.open/invoke`;
  const inLogOnly = planted('note');
  const receipt = await ask(invoke, 'POST', agent, { run_id: 'r1', args: { password, note: inLogOnly } });
  expect(receipt.status).toBe(202);
  const call = `${url}/internal/tool_calls/${receipt.json.tool_call_id}`;
  await ask(`${call}/ack`, 'POST', client, {});
  await ask(`${call}/progress`, 'POST', client, { data: { password: progress } });
  expect((await ask(`${call}/submit`, 'POST', client, { status: 'SUCCEEDED', result: 1 })).status).toBe(200);
  const bad = await ask(invoke, 'POST', agent, { run_id: 'r1', args: { password: [refused] } });
  expect([bad.status, bad.text.includes(refused)]).toEqual([422, false]);

  // Credentials of every kind, good and bad, and where they do not belong.
  const tenant = { 'x-tenant-id': 'yantian', 'x-site-id': 'yantian-main', 'x-trace-id': 't1' };
  const village = { ...tenant, 'x-internal-api-key': fromOutside.internal };
  expect((await ask(`${url}/api/tools/list`, 'POST', village, {})).status).toBe(200);
  for (const authorization of [
    `Bearer ${fromOutside.wrongBearer}`,
    `Bearer ${fromOutside.wrongToken}`,
    `Basic ${fromOutside.basic}`,
  ])
    expect((await ask(`${url}/v1/tools`, 'GET', { authorization })).status).toBe(401);
  await ask(`${url}/v1/tools`, 'GET', { cookie: `session=${fromOutside.cookie}` });
  for (const path of ['/v1/nowhere', '/ws', '/v1/tools'])
    await ask(`${url}${path}?key=${fromOutside.query}`, 'GET', agent);
  const { ticket } = (await ask(`${url}/v1/tickets`, 'POST', client, {})).json as { ticket: string };
  await ask(`${url}/ws?ticket=${ticket}`, 'GET', {});
  const session = await ask(`${url}/v1/session`, 'POST', {}, { token: operatorToken });
  expect(session.status).toBe(200);
  const cookies = session.headers.getSetCookie().map((line) => /=([^;]+)/.exec(line)?.[1] ?? '');

  const exported = await Promise.all(
    ['default', 'yantian'].map((name) =>
      ask(`${url}/v1/ledger/export`, 'GET', { ...operator, 'x-tenant-id': name }),
    ),
  );
  expect(await server.exit()).toBe(0);

  const secrets = [...Object.values(fromOutside), operatorToken, agentKey, clientKey, ticket, ...cookies];
  expect(secrets.filter((secret) => secret.length < 16)).toEqual([]);
  const said = `${server.out()}\n${server.log()}\n${exported.map(({ text }) => text).join('\n')}`;
  expect(server.log()).toContain('vault.open');
  expect(exported[0]?.text).toContain('vault.open');
  for (const secret of [...secrets, inLogOnly]) expect(said).not.toContain(secret.slice(0, 40));
  const files = filesUnder(server.dataFolder).filter((file) => !file.endsWith('operator.token'));
  expect(files.some((file) => file.endsWith('patchboard.db'))).toBe(true);
  for (const file of files) {
    const bytes = readFileSync(file);
    for (const secret of secrets)
      expect(bytes.includes(secret.slice(0, 40)), `${file} ${secret}`).toBe(false);
  }
  await server.stop();
});
