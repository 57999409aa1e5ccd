import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files in PEM format. */
export interface Certificates {
  /** The authority that signed the certificates. */
  readonly ca: string;
  /** An authority that signed none of them. */
  readonly unknownCa: string;
  /** Of the host name `localhost` only, so that the address 127.0.0.1 is a wrong name. */
  readonly server: KeyPair;
  /** Of the role `certified`. */
  readonly client: KeyPair;
}

interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export const CERTIFIED_ROLE = 'certified';

/** Writes new certificates, valid for a day, into the folder. */
export function makeCertificates(folder: string): Certificates {
  const ca = authority(folder, 'ca');
  return {
    ca: ca.certificate,
    unknownCa: authority(folder, 'unknown-ca').certificate,
    server: signed(folder, 'server', ca, { subject: 'localhost', extension: 'subjectAltName=DNS:localhost' }),
    client: signed(folder, 'client', ca, {
      subject: CERTIFIED_ROLE,
      extension: 'extendedKeyUsage=clientAuth',
    }),
  };
}

function authority(folder: string, name: string): KeyPair {
  const pair = pathsOf(folder, name);
  const extensions = ['-addext', 'keyUsage=critical,keyCertSign'];
  openssl(['req', '-x509', ...newKey(pair.key), '-out', pair.certificate, ...subject(name), ...extensions]);
  return pair;
}

function signed(
  folder: string,
  name: string,
  ca: KeyPair,
  about: { readonly subject: string; readonly extension: string },
): KeyPair {
  const pair = pathsOf(folder, name);
  const request = join(folder, `${name}.csr`);
  const extensions = join(folder, `${name}.ext`);
  writeFileSync(extensions, about.extension);
  openssl(['req', ...newKey(pair.key), '-out', request, ...subject(about.subject)]);
  const signer = ['-CA', ca.certificate, '-CAkey', ca.key, '-CAcreateserial'];
  const output = ['-extfile', extensions, '-out', pair.certificate];
  openssl(['x509', '-req', '-in', request, '-days', '1', ...signer, ...output]);
  return pair;
}

function pathsOf(folder: string, name: string): KeyPair {
  return { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
}

function newKey(path: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', path];
}

function subject(name: string): string[] {
  return ['-subj', `/CN=${name}`];
}

function openssl(args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${error?.message ?? stderr}`);
  const key = args.indexOf('-keyout');
  // PostgreSQL refuses a key that others can read.
  if (key !== -1) chmodSync(args[key + 1] ?? '', 0o600);
}
