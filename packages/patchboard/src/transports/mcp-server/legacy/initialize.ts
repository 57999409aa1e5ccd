import { InitializeRequestSchema } from '@modelcontextprotocol/core';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/access/principal.ts';
import { META } from '../../../protocols/mcp/revisions.ts';
import { readClient, type DeclaredClient } from '../client.ts';
import { INSTRUCTIONS } from '../discover.ts';
import { SERVER_INFO } from '../messages/result-json.ts';
import { invalidParams } from '../messages/rpc-error.ts';
import { Session } from './session.ts';

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

/** `initialize` of the protocol versions before 2026-07-28: returns the new session and the JSON text of the result. */
export function initialize(
  params: unknown,
  principal: Principal,
  { now, instanceId }: { readonly now: number; readonly instanceId: string },
): { readonly session: Session; readonly json: string } {
  const parsed = InitializeRequestSchema.safeParse({ method: 'initialize', params });
  if (!parsed.success)
    throw invalidParams(`Invalid request: ${parsed.error.issues.map(({ message }) => message).join('; ')}`);
  const { protocolVersion: wanted, capabilities, clientInfo } = parsed.data.params;
  const [newest = ''] = SUPPORTED_PROTOCOL_VERSIONS;
  const protocolVersion = SUPPORTED_PROTOCOL_VERSIONS.includes(wanted) ? wanted : newest;
  const client = offered(readClient(clientInfo, capabilities), protocolVersion);
  const session = new Session({ principal, client, protocolVersion, lastUsedAt: now });
  const result = {
    protocolVersion,
    capabilities: CAPABILITIES,
    serverInfo: SERVER_INFO,
    instructions: INSTRUCTIONS,
    _meta: { [META.instance]: instanceId },
  };
  return { session, json: JSON.stringify(result) };
}

/** What the client may declare in that version. The tasks of 2025-11-25 are another protocol, which is not offered. */
function offered(client: DeclaredClient, version: string): DeclaredClient {
  return {
    ...client,
    hasTasks: false,
    elicitsForm: client.elicitsForm && version >= '2025-06-18',
    elicitsUrl: client.elicitsUrl && version >= '2025-11-25',
  };
}
