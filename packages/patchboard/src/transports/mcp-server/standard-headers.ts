import type { IncomingHttpHeaders } from 'node:http';
import { RPC_CODES, RpcError } from './rpc-error.ts';

/** The parameter that `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

const BASE64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;
const PLAIN = /^[\t\x20-\x7e]*$/;

/** Returns the value of a header: trimmed, and decoded from its base64 form. Undefined if it is malformed. */
export function headerValue(given: string): string | undefined {
  const text = given.replaceAll(/^[ \t]+|[ \t]+$/g, '');
  const [, encoded] = BASE64.exec(text) ?? [];
  if (encoded !== undefined) return Buffer.from(encoded, 'base64').toString('utf8');
  return PLAIN.test(text) && !text.startsWith('=?base64?') ? text : undefined;
}

/** Throws if the headers that repeat parts of the body are missing or differ from it. */
export function checkStandardHeaders(
  headers: IncomingHttpHeaders,
  method: string,
  params: Readonly<Record<string, unknown>>,
): void {
  if (headers['mcp-protocol-version'] === undefined) throw headerMismatch('MCP-Protocol-Version is missing');
  if (headers['mcp-method'] === undefined) throw headerMismatch('Mcp-Method is missing');
  const member = NAMED[method];
  const value = member === undefined ? undefined : params[member];
  if (typeof value !== 'string') return;
  const given = headers['mcp-name'];
  if (typeof given !== 'string') throw headerMismatch('Mcp-Name is missing');
  if (headerValue(given) !== value) throw headerMismatch(`Mcp-Name differs from params.${member}`);
}

export function headerMismatch(problem: string): RpcError {
  return new RpcError(RPC_CODES.headerMismatch, `Header mismatch: ${problem}`, { status: 400 });
}
