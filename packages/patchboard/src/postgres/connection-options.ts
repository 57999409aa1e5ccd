import { existsSync, readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions as TlsOptions } from 'node:tls';

/** Where to connect, and how. Made from a `postgres://` URL. */
export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly applicationName: string;
  /** Server settings, as the `options` parameter of libpq. */
  readonly startupOptions: string | undefined;
  readonly channelBinding: boolean;
  readonly connectTimeoutMs: number;
  /** Tried in this order: `false` is a connection without TLS. */
  readonly encryption: readonly (false | TlsOptions)[];
  /** The URL without its password, for messages. */
  readonly shown: string;
}

/** The URL cannot be used. The message contains no password. */
export class BadDatabaseUrl extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'BadDatabaseUrl';
  }
}

/** Shown for a URL that cannot be shown without its password. */
const UNSHOWN = 'the database URL';
const DEFAULT_PORT = 5432;
const DEFAULT_CONNECT_TIMEOUT_S = 5;
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];
const PARAMETERS = [
  'application_name',
  'channel_binding',
  'connect_timeout',
  'dbname',
  'host',
  'options',
  'password',
  'port',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'user',
] as const;
type Parameter = (typeof PARAMETERS)[number];

/** Reads a `postgres://` or `postgresql://` URL as libpq does. Throws `BadDatabaseUrl`. */
export function connectionOptions(text: string): ConnectionOptions {
  const url = parse(text);
  const given = parametersOf(url);
  const user = given.get('user') ?? (decoded(url.username) || userInfo().username);
  const host = given.get('host') ?? (decoded(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost');
  // The driver would take the list for one name. The name is not shown: it may be a part of the password.
  if (host.includes(','))
    throw new BadDatabaseUrl('names several hosts: give it one address that leads to the primary');
  return {
    host,
    port: portOf(given.get('port') ?? url.port),
    user,
    password: given.get('password') ?? (url.password === '' ? undefined : decoded(url.password)),
    database: given.get('dbname') ?? (decoded(url.pathname.slice(1)) || user),
    applicationName: given.get('application_name') ?? 'patchboard',
    startupOptions: given.get('options'),
    channelBinding: channelBindingOf(given.get('channel_binding')),
    connectTimeoutMs: timeoutOf(given.get('connect_timeout')) * 1000,
    // A Unix socket has no TLS.
    encryption: host.startsWith('/') ? [false] : encryptionOf(given, host),
    shown: shownUrl(text),
  };
}

/** Returns the URL without its password. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return UNSHOWN;
  const url = new URL(text);
  if (mayShowPassword(url)) return UNSHOWN;
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || mayShowPassword(url))
    throw new BadDatabaseUrl(
      'must be a URL such as postgres://user:password@host:5432/database; encode special characters of the password, such as @ as %40',
    );
  return url;
}

/**
 * Whether a part of the password may be in another part of the URL, because a character that ends the host was not encoded:
 * postgres://user:12#34@host/db has the host `user` and the port 12.
 */
function mayShowPassword(url: URL): boolean {
  if (url.hash !== '' || url.pathname.includes('@')) return true;
  return url.search.includes('@') && ![...url.searchParams.keys()].every(isParameter);
}

function parametersOf(url: URL): ReadonlyMap<Parameter, string> {
  const given = new Map<Parameter, string>();
  for (const [name, value] of url.searchParams) {
    if (!isParameter(name))
      throw new BadDatabaseUrl(`has the unknown parameter ${name}; known are: ${PARAMETERS.join(', ')}`);
    given.set(name, value);
  }
  return given;
}

function isParameter(name: string): name is Parameter {
  return (PARAMETERS as readonly string[]).includes(name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadDatabaseUrl('contains a % that encodes no character; write %25 for the character %');
  }
}

function portOf(text: string): number {
  const port = text === '' ? DEFAULT_PORT : Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new BadDatabaseUrl(`has the port "${text}"; a port is a number from 1 to 65535`);
}

function timeoutOf(text: string | undefined): number {
  const seconds = text === undefined ? DEFAULT_CONNECT_TIMEOUT_S : Number(text);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new BadDatabaseUrl(`has connect_timeout=${text}; it is a number of seconds from 1 on`);
}

function channelBindingOf(text: string | undefined): boolean {
  if (text === undefined || text === 'disable') return false;
  if (text === 'prefer' || text === 'require') return true;
  throw new BadDatabaseUrl(`has channel_binding=${text}; it is one of disable, prefer, require`);
}

/** The meaning of `sslmode` and `sslrootcert` is that of libpq. */
function encryptionOf(given: ReadonlyMap<Parameter, string>, host: string): (false | TlsOptions)[] {
  const mode = sslModeOf(given.get('sslmode'));
  if (mode === 'disable') return [false];
  const client = clientCertificate(given);
  const unverified: TlsOptions = { ...client, rejectUnauthorized: false };
  switch (mode) {
    case 'allow':
      return [false, unverified];
    case 'prefer':
      return [unverified, false];
    case 'require':
      // With a root certificate, libpq verifies the chain also for `require`.
      return [given.has('sslrootcert') ? { ...client, ...chainOnly(rootsOf(given)) } : unverified];
    case 'verify-ca':
      return [{ ...client, ...chainOnly(rootsOf(given)) }];
    case 'verify-full':
      return [{ ...client, ...rootsOf(given), rejectUnauthorized: true, host }];
  }
}

function sslModeOf(text = 'prefer'): SslMode {
  const mode = SSL_MODES.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw new BadDatabaseUrl(`has sslmode=${text}; it is one of ${SSL_MODES.join(', ')}`);
}

/** Verifies that a known authority issued the certificate, whatever host it names. */
function chainOnly(roots: TlsOptions): TlsOptions {
  return { ...roots, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

function rootsOf(given: ReadonlyMap<Parameter, string>): TlsOptions {
  const file = given.get('sslrootcert');
  // The authorities that Node trusts.
  if (file === 'system') return {};
  const standard = join(homedir(), '.postgresql', 'root.crt');
  if (file === undefined && !existsSync(standard))
    throw new BadDatabaseUrl(
      `has sslmode=${given.get('sslmode')}, which needs the certificate of the authority: add sslrootcert=FILE, or sslrootcert=system for the authorities that Node trusts`,
    );
  return { ca: fileOf(file ?? standard, 'sslrootcert') };
}

function clientCertificate(given: ReadonlyMap<Parameter, string>): TlsOptions {
  const [cert, key] = [given.get('sslcert'), given.get('sslkey')];
  if ((cert === undefined) !== (key === undefined))
    throw new BadDatabaseUrl('has only one of sslcert and sslkey; a client certificate needs both');
  return cert === undefined || key === undefined
    ? {}
    : { cert: fileOf(cert, 'sslcert'), key: fileOf(key, 'sslkey') };
}

function fileOf(path: string, parameter: Parameter): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BadDatabaseUrl(`has ${parameter}=${path}, but that file cannot be read (${code})`);
  }
}
