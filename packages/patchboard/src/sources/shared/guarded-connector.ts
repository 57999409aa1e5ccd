import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { AddressNotAllowed, CouldNotConnect } from './fetch-errors.ts';
import { isPublicAddress } from './public-address.ts';

/** Resolves to all addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface ConnectorOptions {
  /** Origins that may have any address. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly connectTimeoutMs: number;
  readonly resolve: Resolve;
}

export const resolveByDns: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    dnsLookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });

/**
 * Returns a connector of undici that connects to public addresses and allowed origins only. It checks the addresses that the socket
 * connects to, after the resolution of the name: a name that resolves to another address the next time (DNS rebinding) gains nothing.
 */
export function guardedConnector(
  build: typeof buildConnector,
  { allowedOrigins, connectTimeoutMs, resolve }: ConnectorOptions,
): buildConnector.connector {
  // The types of undici require the port and path of one connection here; the connector gets them with each connection.
  const connectorWith = (lookup: LookupFunction) =>
    build({ timeout: connectTimeoutMs, lookup } as buildConnector.BuildOptions);
  const toAny = connectorWith(lookupWith(resolve));
  const toPublic = connectorWith(lookupWith(async (hostname) => checked(hostname, await resolve(hostname))));

  return (options, callback) => {
    const { protocol, hostname, port } = options;
    const origin = originOf(protocol, hostname, port);
    const isAllowed = allowedOrigins.has(origin);
    // A socket does not look up an address.
    if (!isAllowed && isIP(hostname) !== 0 && !isPublicAddress(hostname)) {
      callback(notPublic(hostname, hostname), null);
      return;
    }
    const connect = isAllowed ? toAny : toPublic;
    connect(options, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(error instanceof AddressNotAllowed ? error : new CouldNotConnect(origin, error), null);
    });
  };
}

function originOf(protocol: string, hostname: string, port: string): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return new URL(`${protocol}//${host}${port === '' ? '' : `:${port}`}`).origin;
}

function checked(hostname: string, addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  const refused = addresses.find(({ address }) => !isPublicAddress(address));
  if (refused !== undefined) throw notPublic(hostname, refused.address);
  return addresses;
}

function notPublic(hostname: string, address: string): AddressNotAllowed {
  const subject = hostname === address ? address : `${hostname} resolves to ${address}, which`;
  return new AddressNotAllowed(
    `${subject} is not a public address; requests to it are allowed only if the settings of the upstream contain its origin`,
  );
}

/** Returns a lookup for sockets, which want one address or all of them. */
function lookupWith(resolve: Resolve): LookupFunction {
  return (hostname, { all = false, family }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const usable = addresses.filter((address) => fits(address, family));
        const [first] = usable;
        if (first === undefined) callback(new Error(`${hostname} has no usable address`), '');
        else if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as Error, ''),
    );
  };
}

function fits({ family: ofAddress }: LookupAddress, family: number | string | undefined): boolean {
  const wanted = family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : family;
  return wanted === undefined || wanted === 0 || wanted === ofAddress;
}
