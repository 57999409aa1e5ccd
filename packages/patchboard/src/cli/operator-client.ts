import { readFile } from 'node:fs/promises';
import { createClient, PatchboardError, type ClientOptions, type PatchboardClient } from '@patchboard/client';
import { Option, type Command } from 'commander';
import { operatorTokenFile } from '../identity/operator-token.ts';
import { connectionOf, type Connection } from './connection.ts';
import { withServerOptions, type CliContext, type ServerOptions } from './context.ts';
import { UsageError } from './exit-codes.ts';
import { isLoopback } from '../settings/settings.ts';

export interface OperatorOptions extends ServerOptions {
  readonly tenant?: string;
}

export function withOperatorOptions(command: Command): Command {
  return withServerOptions(command).addOption(
    new Option('--tenant <id>', 'tenant to act for, with the operator token (default "default")'),
  );
}

/** The credential of an operator command, and its source. */
export interface OperatorCredential {
  readonly url: string;
  readonly key: string | null;
  readonly source: 'PATCHBOARD_KEY' | 'PATCHBOARD_OPERATOR_TOKEN' | 'profile' | 'operator token' | 'none';
  /** The profile in use; null if none is. */
  readonly profile: string | null;
  /** The tenant of the profile; null if it has none. */
  readonly tenant: string | null;
}

export async function operatorCredential(
  context: CliContext,
  options: OperatorOptions,
): Promise<OperatorCredential> {
  const connection = await connectionOf(context.environment, options);
  const { url, profile, tenant, dataFolder } = connection;
  const given = await connection.operatorCredential();
  if (given !== null) return { url, key: given.secret, source: given.source, profile, tenant };
  // The token of a data folder is for the server that uses the folder, so it is sent only to servers on this machine.
  const token = isOnThisMachine(url) ? await readToken(dataFolder) : null;
  return { url, key: token, source: token === null ? 'none' : 'operator token', profile, tenant };
}

/** `more`: options of the client itself. */
export function operatorClient(
  credential: OperatorCredential,
  options: OperatorOptions,
  more: Pick<ClientOptions, 'fetch'> = {},
): PatchboardClient {
  const { url, key } = credential;
  const tenant = options.tenant ?? credential.tenant;
  try {
    return createClient({
      ...more,
      url,
      ...(key === null ? {} : { key }),
      ...(tenant === null ? {} : { headers: { 'x-tenant-id': tenant } }),
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** Runs `work` as the operator. The error of a refusal names the credential that was used and the one to set. */
export async function asOperator<T>(
  context: CliContext,
  options: OperatorOptions,
  work: (client: PatchboardClient, credential: OperatorCredential) => Promise<T>,
  more: Pick<ClientOptions, 'fetch'> = {},
): Promise<T> {
  const credential = await operatorCredential(context, options);
  try {
    return await work(operatorClient(credential, options, more), credential);
  } catch (error) {
    throw withAdvice(error, credential, await connectionOf(context.environment, options));
  }
}

export function isOnThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  return isLoopback(new URL(url).hostname.replace(/^\[(.*)\]$/, '$1'));
}

async function readToken(dataFolder: string): Promise<string | null> {
  try {
    const token = (await readFile(operatorTokenFile(dataFolder), 'utf8')).trim();
    return token === '' ? null : token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UsageError(`cannot read the operator token: ${(error as Error).message}`);
  }
}

function withAdvice(error: unknown, credential: OperatorCredential, connection: Connection): unknown {
  if (!(error instanceof PatchboardError) || (error.status !== 401 && error.status !== 403)) return error;
  if (error.kind !== 'problem') return error;
  const { kind, detail, code, status, retryable, toolCallId, issues, reasons, state, cause } = error;
  return new PatchboardError(kind, detail, {
    code,
    status,
    retryable,
    toolCallId,
    issues,
    reasons,
    state,
    cause,
    recommendations: [adviceFor(credential, connection)],
  });
}

function adviceFor({ source, url }: OperatorCredential, { dataFolder, profile }: Connection): string {
  switch (source) {
    case 'PATCHBOARD_KEY':
      return 'PATCHBOARD_KEY was used; set it to the key of an operator, or unset it to use the operator token';
    case 'PATCHBOARD_OPERATOR_TOKEN':
      return `PATCHBOARD_OPERATOR_TOKEN was used; set it to the token that the server at ${url} was started with`;
    case 'profile':
      return `the credential of profile ${profile} was used; it must be an operator's key or the operator token of ${url}`;
    case 'operator token':
      return `the token in ${dataFolder} was used; set PATCHBOARD_DATA to the data folder of the server at ${url}`;
    case 'none':
      return isOnThisMachine(url)
        ? `set PATCHBOARD_DATA to the server's data folder (${dataFolder} contains no operator token), PATCHBOARD_OPERATOR_TOKEN to the server's own, or PATCHBOARD_KEY to an operator's key`
        : "set PATCHBOARD_KEY to an operator's key of that server, or PATCHBOARD_OPERATOR_TOKEN to its operator token";
  }
}
