/** Where to connect, and as whom. Made from `NATS_URL`. */
export interface NatsOptions {
  /** `host:port` of each server of the cluster of NATS. */
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
  /** True: a server without TLS is refused. False: TLS is used if the server offers it. */
  readonly requiresTls: boolean;
  readonly tls: NatsTls;
  /** The URL without its password or token, for messages. */
  readonly shown: string;
}

/** PEM texts. Absent: the authorities that Node trusts, and no client certificate. */
export interface NatsTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The URL cannot be used. The message contains no password. */
export class BadNatsUrl extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'BadNatsUrl';
  }
}

const DEFAULT_PORT = '4222';
const SCHEMES: ReadonlySet<string> = new Set(['nats:', 'tls:']);

/**
 * Reads `nats://host:4222`, `nats://user:password@host` or `nats://token@host`; `tls://`, or a file for TLS, requires TLS. Several servers are
 * separated by commas; the credentials of the first are those of all. Throws `BadNatsUrl`.
 */
export function natsOptions(text: string, tls: NatsTls = {}): NatsOptions {
  const urls = text.split(',').map((part) => urlOf(part.trim()));
  const [first] = urls;
  if (first === undefined) throw new BadNatsUrl('is empty');
  const user = decoded(first.username);
  const password = decoded(first.password);
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === '' ? DEFAULT_PORT : port}`),
    user: password === undefined ? undefined : user,
    password,
    token: password === undefined ? user : undefined,
    requiresTls: urls.some(({ protocol }) => protocol === 'tls:') || Object.keys(tls).length > 0,
    tls,
    shown: urls.map(({ protocol, host }) => `${protocol}//${host}`).join(','),
  };
}

function urlOf(text: string): URL {
  const wanted = 'must be a URL such as nats://user:password@host:4222';
  let url: URL;
  try {
    url = new URL(text.includes('://') ? text : `nats://${text}`);
  } catch {
    throw new BadNatsUrl(`${wanted}; encode special characters of the password, such as / as %2F`);
  }
  if (!SCHEMES.has(url.protocol)) throw new BadNatsUrl(`${wanted}: the scheme is nats or tls`);
  if (url.hostname === '') throw new BadNatsUrl(`${wanted}: the host is missing`);
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw new BadNatsUrl(`${wanted}: nothing may follow the port`);
  return url;
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadNatsUrl('has a user or password with a "%" that is not encoded: write it as %25');
  }
}
