import type { IncomingHttpHeaders } from 'node:http';
import { headerText } from '../../../protocols/mcp/param-headers.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { RpcError } from './rpc-error.ts';

/** The parameter that `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

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
  if (headerText(given) !== value) throw headerMismatch(`Mcp-Name differs from params.${member}`);
}

export function headerMismatch(problem: string): RpcError {
  return new RpcError(RPC_CODES.headerMismatch, `Header mismatch: ${problem}`, { status: 400 });
}
