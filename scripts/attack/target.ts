import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { ServerProcess } from '../chaos/server-process.ts';

/** The response; status 0 if the connection ended without one. */
export interface Response {
  readonly status: number;
  readonly text: string;
  readonly type: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Strings are sent unchanged, other values as JSON. */
  readonly body?: unknown;
}

/** The attacked server: a real one with two tenants, keys of each kind and a token issuer. */
export interface Target {
  readonly url: string;
  readonly port: number;
  readonly process: ServerProcess;
  readonly issuer: Issuer;
  readonly operator: Readonly<Record<string, string>>;
  /** The attackers' credentials, by name. */
  readonly credentials: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly send: (path: string, sent?: Sent) => Promise<Response>;
  /** A plain connection, for requests that no HTTP client would send. */
  readonly socket: () => Promise<Socket>;
  close(): Promise<void>;
}

interface Issuer {
  readonly name: string;
  readonly audience: string;
  readonly privateKey: KeyObject;
}

const PATIENCE_MS = 30_000;

export async function startTarget(folder: string): Promise<Target> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer: Issuer = { name: 'https://issuer.example', audience: 'patchboard', privateKey };
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256', use: 'sig' }];
  writeFileSync(join(folder, 'jwks.json'), JSON.stringify({ keys }));
  const configFile = join(folder, 'config.json');
  writeFileSync(configFile, JSON.stringify(configOf(folder, issuer)));
  const dataFolder = join(folder, 'data');
  const server = ServerProcess.shipped({ dataFolder, configFile });
  try {
    const url = await server.mustBeReady();
    const token = readFileSync(join(dataFolder, 'operator.token'), 'utf8').trim();
    const operator = { authorization: `Bearer ${token}` };
    const send = async (path: string, sent: Sent = {}): Promise<Response> => await request(url, path, sent);
    return {
      url,
      port: Number(new URL(url).port),
      process: server,
      issuer,
      operator,
      credentials: await credentialsOf(send, operator),
      send,
      socket: async () => await open(Number(new URL(url).port)),
      close: async () => await server.destroy(),
    };
  } catch (error) {
    await server.destroy();
    throw error;
  }
}

/** No rate limits, because the code behind them is tested. */
function configOf(folder: string, { name, audience }: Issuer): unknown {
  return {
    auth: { jwt: { issuer: name, audience, jwks_file: join(folder, 'jwks.json') } },
    rates: { principal: null, tenant: null, tool: null },
    tenants: {
      acme: { sites: ['north'], packs: ['essentials', 'heritage'] },
      rival: { packs: ['essentials'] },
    },
  };
}

async function credentialsOf(
  send: Target['send'],
  operator: Readonly<Record<string, string>>,
): Promise<Target['credentials']> {
  const mint = async (body: Readonly<Record<string, unknown>>, tenant?: string): Promise<string> => {
    const headers = { ...operator, ...(tenant === undefined ? {} : { 'x-tenant-id': tenant }) };
    const { status, text } = await send('/v1/keys', { method: 'POST', headers, body });
    if (status !== 201) throw new Error(`no key was made: ${status} ${text}`);
    return (JSON.parse(text) as { key: string }).key;
  };
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
  const revoked = await mint({ kind: 'agent', name: 'revoked' });
  const { text } = await send('/v1/keys', { headers: operator });
  const { keys } = JSON.parse(text) as { keys: { key_id: string; name: string }[] };
  const id = keys.find((key) => key.name === 'revoked')?.key_id ?? '';
  await send(`/v1/keys/${id}`, { method: 'DELETE', headers: operator });
  return {
    none: {},
    garbage: bearer('garbage'),
    revoked: bearer(revoked),
    agent: bearer(await mint({ kind: 'agent', name: 'planner' })),
    client: bearer(await mint({ kind: 'client', name: 'phone' })),
    service: bearer(await mint({ kind: 'service', name: 'backend' })),
    rival: bearer(await mint({ kind: 'agent', name: 'rival-agent' }, 'rival')),
  };
}

async function request(
  url: string,
  path: string,
  { method = 'GET', headers = {}, body }: Sent,
): Promise<Response> {
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  try {
    const response = await fetch(url + path, {
      method,
      headers: { ...(text === null ? {} : { 'content-type': 'application/json' }), ...headers },
      body: text,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) {
      await response.body?.cancel();
      return { status: response.status, text: '', type };
    }
    return { status: response.status, text: await response.text(), type };
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      throw new Error(`${method} ${path} had no response in ${PATIENCE_MS} ms`, { cause: error });
    return { status: 0, text: String(error), type: '' };
  }
}

async function open(port: number): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

/**
 * Null if the response is a proper refusal: a 4xx or 503 problem with a code. Otherwise a description of the
 * violation.
 */
export function refusalProblem(what: string, { status, text, type }: Response): string | null {
  if (status >= 200 && status < 300) return `${what}: was accepted with ${status}`;
  return faultProblem(what, { status, text, type });
}

/** Null unless the server failed: a 5xx other than a refusal under load, or an error without a code. */
export function faultProblem(what: string, { status, text, type }: Response): string | null {
  if (status >= 500 && status !== 503 && status !== 507) return `${what}: ${status} ${text.slice(0, 200)}`;
  if (status < 400) return null;
  if (!type.includes('json')) return `${what}: ${status} as ${type}, not as a problem`;
  if (/FST_ERR|\bat .*\.[jt]s:\d+/.test(text)) return `${what}: shows the inside: ${text.slice(0, 200)}`;
  // A problem has a name, an error of JSON-RPC a number.
  return /"code":(?:"[a-z_]+"|-\d+)/.test(text)
    ? null
    : `${what}: ${status} without a code: ${text.slice(0, 200)}`;
}
