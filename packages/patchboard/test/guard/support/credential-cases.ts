import { nodeDigest } from '../../../src/runtime/digest.ts';
import type { Route } from '../../../src/transports/shared/routes/routes.ts';
import type { Scene } from './scene.ts';

export type Expected = readonly [status: number, code: string | null];
export type Headers = Readonly<Record<string, string>>;

/** The request passed the guard and reached the handler. */
export const PAST = 'past';

/** The check that refuses a request. */
type Mechanism =
  | 'host'
  | 'origin'
  | 'fetch-site'
  | 'content-type'
  | 'credential'
  | 'key'
  | 'session'
  | 'scope'
  | 'identity'
  | 'operator-token';

export interface Case {
  readonly name: string;
  readonly mechanism: Mechanism;
  readonly headers: (scene: Scene, route: Route) => Headers;
  readonly expected: (route: Route) => Expected | typeof PAST;
  readonly body?: string;
}

/** The same on every route, but for those that need no credential. */
export const needsCredential = (route: Route): Expected | typeof PAST =>
  route.scope === null ? PAST : [401, 'auth_required'];
const isDenied = (route: Route): Expected | typeof PAST =>
  route.scope === null ? PAST : [403, 'permission_denied'];
const always =
  (...expected: Expected) =>
  (): Expected =>
    expected;
const takesBody = (route: Route): boolean => route.method !== 'GET';

/** Refused whatever the credential is. */
const AT_THE_DOOR: readonly Case[] = [
  ...[
    ['a foreign Host', 'evil.example:80'],
    ['a Host that ends in ours', 'evil.localhost:80'],
    ['our Host at another port', 'localhost:1'],
  ].map(([name = '', host = '']) => ({
    name,
    mechanism: 'host' as const,
    headers: (scene: Scene) => ({ ...scene.boss.headers, host }),
    expected: always(421, 'misdirected'),
  })),
  ...['https://evil.example', 'null', 'http://127.0.0.1:1', 'file://'].map((origin) => ({
    name: `Origin ${origin}`,
    mechanism: 'origin' as const,
    headers: (scene: Scene) => ({ ...scene.boss.headers, origin }),
    expected: always(403, 'permission_denied'),
  })),
  ...['cross-site', 'same-site'].map((site) => ({
    name: `Sec-Fetch-Site ${site}`,
    mechanism: 'fetch-site' as const,
    headers: (scene: Scene) => ({ ...scene.boss.headers, 'sec-fetch-site': site }),
    expected: always(403, 'permission_denied'),
  })),
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'].map((type) => ({
    name: `a body of ${type}`,
    mechanism: 'content-type' as const,
    headers: (scene: Scene) => ({ ...scene.boss.headers, 'content-type': type }),
    expected: (route: Route): Expected | typeof PAST => (takesBody(route) ? [415, 'content_type'] : PAST),
    body: '{"run_id":"run_a"}',
  })),
];

const BY_CREDENTIAL: readonly Case[] = [
  { name: 'no credential', mechanism: 'credential', headers: () => ({}), expected: needsCredential },
  // A wrong operator token is throttled: see `operator-token.test.ts`.
  ...['Bearer', 'Bearer pb_short', 'Bearer not.a.token', 'Basic Ym9zczpib3Nz'].map((authorization) => ({
    name: `the credential "${authorization}"`,
    mechanism: 'credential' as const,
    headers: () => ({ authorization }),
    expected: needsCredential,
  })),
  ...Object.entries({
    'a revoked key': (scene: Scene) => scene.revoked.headers,
    'a key that was never made': () => bearer(unknownKey()),
    'a key with one letter changed': (scene: Scene) => bearer(mistyped(scene.boss.secret)),
    'an expired key': (scene: Scene) => scene.expired,
  }).map(([name, headers]) => ({ name, mechanism: 'key' as const, headers, expected: needsCredential })),
  {
    name: 'a session that was never opened',
    mechanism: 'session',
    headers: () => ({ cookie: `patchboard_session=${'A'.repeat(43)}` }),
    expected: needsCredential,
  },
  {
    name: 'a key without the scope',
    mechanism: 'scope',
    headers: (scene, { scope }) => {
      if (scope === null) return {};
      return (scope === 'any' ? scene.boss : scene.without.get(scope)!).headers;
    },
    expected: (route) => (route.scope === 'any' ? PAST : isDenied(route)),
  },
  ...['x-tenant-id', 'x-agent-id', 'x-client-id'].map((header) => ({
    name: `a key and ${header} of another principal`,
    mechanism: 'identity' as const,
    headers: (scene: Scene) => ({ ...scene.boss.headers, [header]: 'other' }),
    expected: isDenied,
  })),
  ...['x-agent-id', 'x-client-id'].map((header) => ({
    name: `the operator token and ${header} of another principal`,
    mechanism: 'operator-token' as const,
    headers: (scene: Scene) => ({ ...bearer(scene.operatorToken), [header]: 'other' }),
    expected: isDenied,
  })),
];

export const CASES: readonly Case[] = [...AT_THE_DOOR, ...BY_CREDENTIAL];
/** Headers of a proxy end local mode. */
export const PROXY_HEADERS: readonly string[] = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
];

/** The first of each mechanism. */
export const ONE_CASE_PER_MECHANISM: readonly Case[] = CASES.filter(
  ({ mechanism }, at) => CASES.findIndex((other) => other.mechanism === mechanism) === at,
);

function bearer(secret: string): Headers {
  return { authorization: `Bearer ${secret}` };
}

/** Well formed: its checksum is right. */
function unknownKey(): string {
  const random = 'A'.repeat(43);
  return `pb_${random}${nodeDigest.sha256(random).slice(0, 6)}`;
}

function mistyped(secret: string): string {
  return `${secret.slice(0, 10)}${secret[10] === 'A' ? 'B' : 'A'}${secret.slice(11)}`;
}
