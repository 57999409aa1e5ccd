import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { ROUTES } from '../../packages/patchboard/src/wiring/apis.ts';
import { eachOf, type Battery } from './battery.ts';
import { faultProblem, refusalProblem, type Target } from './target.ts';

const UNKNOWN_ID = 'tc_00000000000000000000000000';
const FOREIGN = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** Invalid credentials. */
const WORTHLESS = new Set(['none', 'garbage', 'revoked']);

/** Every route with every credential: an invalid one is refused, and none causes a server error. */
export const routesByCredential: Battery = async (target, tally) => {
  const cases = ROUTES.flatMap((route) =>
    Object.entries(target.credentials).map(([holder, headers]) => ({ route, holder, headers })),
  );
  await eachOf(cases, 16, async ({ route, holder, headers }) => {
    const path = route.url.replaceAll(/:[a-z_]+|\*/g, UNKNOWN_ID);
    const { method } = route;
    const body = route.body === undefined ? undefined : {};
    const response = await target.send(path, { method, headers, ...(body === undefined ? {} : { body }) });
    const what = `${method} ${path} as ${holder}`;
    const isClosed = route.scope !== null && WORTHLESS.has(holder);
    const problem = isClosed ? refusalProblem(what, response) : faultProblem(what, response);
    tally.record(String(response.status), problem);
  });
};

/** Tokens and headers that look like credentials. None may be accepted. */
export const hostileTokens: Battery = async (target, tally) => {
  const now = Math.floor(Date.now() / 1000);
  const good = {
    iss: target.issuer.name,
    aud: target.issuer.audience,
    sub: 'planner',
    kind: 'agent',
    tenant: 'default',
    exp: now + 600,
  };
  const accepted = await target.send('/v1/tools', { headers: bearer(signed(target, good)) });
  tally.record(
    `good token ${accepted.status}`,
    accepted.status === 200 ? null : `a good token was refused: ${accepted.status} ${accepted.text}`,
  );
  for (const [what, value] of Object.entries(tokensFrom(target, good, now))) {
    const response = await target.send('/v1/tools', { headers: { authorization: value } });
    tally.record(String(response.status), refusalProblem(`token: ${what}`, response));
  }
  for (const [what, headers] of Object.entries(headersOf())) {
    const response = await target.send('/v1/tools', { headers });
    tally.record(String(response.status), refusalProblem(`header: ${what}`, response));
  }
};

function tokensFrom(
  target: Target,
  good: Readonly<Record<string, unknown>>,
  now: number,
): Record<string, string> {
  const { authorization: agent = '' } = target.credentials['agent'] ?? {};
  const { authorization: operator = '' } = target.operator;
  const jwt = (claims: Record<string, unknown>, header?: Record<string, unknown>): string =>
    `Bearer ${signed(target, { ...good, ...claims }, header)}`;
  const [head = '', body = ''] = signed(target, good).split('.');
  return {
    empty: 'Bearer',
    'only a space': 'Bearer  ',
    'basic credentials': 'Basic b3BlcmF0b3I6b3BlcmF0b3I=',
    'a key in lower case': agent.toLowerCase(),
    'a key with one letter changed': agent.slice(0, -1) + (agent.endsWith('a') ? 'b' : 'a'),
    'a key cut short': agent.slice(0, -6),
    'a key with something behind it': `${agent}x`,
    'two keys': `${agent}, ${agent}`,
    'the operator token cut short': operator.slice(0, -1),
    'the operator token with something behind it': `${operator}0`,
    'the prefix of an operator token': 'Bearer op_',
    'a login token': `Bearer ${'A'.repeat(43)}`,
    'a session id': `Bearer pbs_${'A'.repeat(43)}`,
    'without a signature': `Bearer ${head}.${body}.`,
    'alg none': `Bearer ${part({ alg: 'none' })}.${body}.`,
    'alg NoNe': `Bearer ${part({ alg: 'NoNe', typ: 'JWT' })}.${body}.`,
    'HS256 with the public key as secret': `Bearer ${hmac(target, good)}`,
    'another key id': jwt({}, { kid: 'k2' }),
    'a key id that is a path': jwt({}, { kid: '../../../../dev/null' }),
    'a key in the header': `Bearer ${foreignSigned(good, { jwk: FOREIGN.publicKey.export({ format: 'jwk' }) })}`,
    'a key URL in the header': `Bearer ${foreignSigned(good, { jku: 'http://127.0.0.1:1/keys' })}`,
    'the signature of another key': `Bearer ${foreignSigned(good, { kid: 'k1' })}`,
    'a critical header that is not known': jwt({}, { crit: ['x'], x: 1 }),
    'another issuer': jwt({ iss: 'https://evil.example' }),
    'another audience': jwt({ aud: 'somebody-else' }),
    'no audience': jwt({ aud: undefined }),
    'no subject': jwt({ sub: undefined }),
    'an empty subject': jwt({ sub: '' }),
    'a subject with a line break': jwt({ sub: 'a\nb' }),
    'no expiry': jwt({ exp: undefined }),
    'an expiry in the past': jwt({ exp: now - 3600 }),
    'an expiry that is text': jwt({ exp: String(now + 600) }),
    'an expiry beyond ten years': jwt({ exp: now + 11 * 365 * 86_400 }),
    'an expiry beyond safe integers': jwt({ exp: 1e300 }),
    'an expiry that is a fraction': jwt({ exp: now + 600.5 }),
    'not valid yet': jwt({ nbf: now + 3600 }),
    'a kind that is not known': jwt({ kind: 'root' }),
    'the kind of an operator': jwt({ kind: 'operator', tenant: ['default'] }),
    'a tenant that is a list': jwt({ tenant: ['default', 'acme'] }),
    'a claim __proto__': `Bearer ${rawSigned(target, `{"__proto__":{"kind":"operator"},"exp":${now + 600}}`)}`,
    'a body that is no JSON': `Bearer ${rawSigned(target, '{')}`,
    'five parts': `Bearer ${head}.${body}.a.b.c`,
    'eight kilobytes': `Bearer ${'A'.repeat(8000)}`,
  };
}

/** Identity headers set by the caller are not credentials. */
function headersOf(): Record<string, Record<string, string>> {
  const names = { 'x-agent-id': 'planner', 'x-tenant-id': 'default' };
  return {
    'only names': names,
    'a cookie of a session': { ...names, cookie: `patchboard_session=pbs_${'A'.repeat(43)}` },
    'an internal key where none is taken': { ...names, 'x-internal-api-key': 'guess' },
    'an API key header': { ...names, 'x-api-key': 'guess' },
    'a forwarded user': { ...names, 'x-forwarded-user': 'operator', 'x-remote-user': 'operator' },
    'a method override': { ...names, 'x-http-method-override': 'GET' },
    'an original URL': { ...names, 'x-original-url': '/healthz', 'x-rewrite-url': '/healthz' },
  };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function signed(target: Target, claims: unknown, header: Readonly<Record<string, unknown>> = {}): string {
  return rawSigned(target, JSON.stringify(claims), header);
}

function rawSigned(target: Target, body: string, header: Readonly<Record<string, unknown>> = {}): string {
  const head = part({ alg: 'ES256', typ: 'JWT', kid: 'k1', ...header });
  const text = `${head}.${Buffer.from(body).toString('base64url')}`;
  const key = { key: target.issuer.privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

/** Signed with the attacker's key. */
function foreignSigned(claims: unknown, header: Readonly<Record<string, unknown>>): string {
  const text = `${part({ alg: 'ES256', typ: 'JWT', ...header })}.${part(claims)}`;
  const key = { key: FOREIGN.privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

function hmac(target: Target, claims: unknown): string {
  const text = `${part({ alg: 'HS256', typ: 'JWT', kid: 'k1' })}.${part(claims)}`;
  const secret = target.issuer.privateKey.export({ format: 'jwk' }).x ?? '';
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
