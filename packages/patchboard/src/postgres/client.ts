import pg from 'pg';
import type { ConnectionOptions } from './connection-options.ts';
import { withTlsAdvice } from './tls-advice.ts';

type Encryption = ConnectionOptions['encryption'][number];

const KEEP_ALIVE_MS = 5000;

/** The settings of a client of the driver. `name` is shown in `pg_stat_activity` after the application name. */
export function clientConfig(options: ConnectionOptions, name: string, ssl: Encryption): pg.ClientConfig {
  const { host, port, user, password, database, applicationName, startupOptions } = options;
  return {
    host,
    port,
    user,
    database,
    password: password ?? '',
    application_name: `${applicationName} ${name}`,
    ...(startupOptions === undefined ? {} : { options: startupOptions }),
    ssl,
    enableChannelBinding: options.channelBinding,
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/** Tries each kind of encryption that the URL allows, until one connects. */
export async function connectEncrypted<T>(
  { encryption }: ConnectionOptions,
  connect: (ssl: Encryption) => Promise<T>,
): Promise<T> {
  for (const [index, ssl] of encryption.entries()) {
    try {
      return await connect(ssl);
    } catch (error) {
      // A server that cannot be reached with TLS cannot be reached without it either.
      if (index === encryption.length - 1 || isUnreachable(error)) throw withTlsAdvice(error);
    }
  }
  throw new Error('the URL allows no kind of connection');
}

/** Connects a client for a few statements. The caller ends it. */
export async function connectClient(options: ConnectionOptions, name: string): Promise<pg.Client> {
  return await connectEncrypted(options, async (ssl) => {
    const client = new pg.Client(clientConfig(options, name, ssl));
    client.on('error', () => undefined); // the query in progress rejects with the same error
    try {
      await client.connect();
      return client;
    } catch (error) {
      client.end().catch(() => undefined); // it was never open, or is broken
      throw error;
    }
  });
}

/** By the codes of the operating system, except those of a failed TLS handshake. */
function isUnreachable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E(?!RR_|PROTO$)[A-Z]+$/.test(code);
}
