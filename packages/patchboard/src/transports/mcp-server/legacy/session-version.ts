import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { RpcError } from '../messages/rpc-error.ts';
import type { Session } from './session.ts';

/** Throws if `MCP-Protocol-Version` is unsupported, or not the version that the session was opened with. */
export function checkVersion(headers: IncomingHttpHeaders, session: Session | null): void {
  const given = headers['mcp-protocol-version'];
  if (given === undefined) return;
  if (typeof given !== 'string' || !SUPPORTED_PROTOCOL_VERSIONS.includes(given))
    throw refused(
      `unsupported protocol version ${shown(given)}; supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}`,
    );
  if (session !== null && session.protocolVersion !== given)
    throw refused(
      `MCP-Protocol-Version is ${given}, but the session was opened with ${session.protocolVersion}`,
    );
}

function shown(given: string | string[]): string {
  return JSON.stringify(String(given).slice(0, 50));
}

function refused(problem: string): RpcError {
  return new RpcError(RPC_CODES.invalidRequest, `Bad Request: ${problem}`, { status: 400 });
}
