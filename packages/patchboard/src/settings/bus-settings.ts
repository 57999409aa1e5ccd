import { readFileSync } from 'node:fs';
import { BadNatsUrl, natsOptions, type NatsOptions, type NatsTls } from '../bus/nats-options.ts';
import { ConfigError, type ConfigText } from './config-file.ts';
import type { NatsConfig } from './config-schema.ts';
import type { Environment } from './environment.ts';
import { fileProblem } from './file-problem.ts';
import type { StoreSettings } from './store-settings.ts';

/** What carries notifications between the nodes of one database. */
export type BusSettings =
  /** LISTEN and NOTIFY. `url` leads to the database without a pooler, and contains the password. */
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'nats'; readonly options: NatsOptions };

/** The environment takes precedence over the config file. Null: a store of one process. Throws a `ConfigError` without passwords. */
export function busSettings(
  given: Environment,
  config: ConfigText | null,
  store: StoreSettings,
): BusSettings | null {
  const file: NatsConfig = config?.value.nats ?? {};
  const place = (key: string): string => `${config?.file}:${config?.lineOf(['nats', key])}: nats.${key}`;
  const variable = given['NATS_URL'] ?? '';
  const url = variable === '' ? file.url : variable;
  const [unused] = Object.keys(file);
  const from = variable !== '' ? 'NATS_URL' : unused === undefined ? null : place(unused);
  if (store.kind === 'sqlite') {
    if (from === null) return null;
    throw new ConfigError(
      `${from} is for several nodes on PostgreSQL: set DATABASE_URL or store.url too, or remove it`,
    );
  }
  if (url === undefined) {
    if (from === null) return { kind: 'postgres', url: store.listenUrl ?? store.url };
    throw new ConfigError(`${from} needs a server: set NATS_URL or nats.url too, or remove it`);
  }
  try {
    return { kind: 'nats', options: natsOptions(url, tlsOf(file, place)) };
  } catch (error) {
    if (error instanceof BadNatsUrl)
      throw new ConfigError(`${variable === '' ? place('url') : 'NATS_URL'} ${error.message}`);
    throw error;
  }
}

function tlsOf(file: NatsConfig, place: (key: string) => string): NatsTls {
  const read = (key: 'ca_file' | 'cert_file' | 'key_file'): string | undefined => {
    const path = file[key];
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw new ConfigError(`${place(key)}: ${path} cannot be read: ${fileProblem(error)}`);
    }
  };
  const [ca, cert, key] = [read('ca_file'), read('cert_file'), read('key_file')];
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError(
      `${place(cert === undefined ? 'key_file' : 'cert_file')}: set cert_file and key_file together`,
    );
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
