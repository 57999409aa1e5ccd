import { isRecord } from '@patchboard/wire/json';
import { mcpClientOf, type McpClient } from '../shared/mcp-client.ts';
import { TASKS_EXTENSION } from '../../protocols/mcp/revisions.ts';

/** What an MCP client says about itself. Never trusted: no permission depends on it. */
export interface DeclaredClient {
  /** Cleaned and cut. */
  readonly info: McpClient | null;
  /** Whether it supports the tasks extension. */
  readonly hasTasks: boolean;
  readonly elicitsForm: boolean;
  readonly elicitsUrl: boolean;
  readonly samples: boolean;
  readonly hasRoots: boolean;
}

export const UNKNOWN_CLIENT: DeclaredClient = {
  info: null,
  hasTasks: false,
  elicitsForm: false,
  elicitsUrl: false,
  samples: false,
  hasRoots: false,
};

/** Reads `clientInfo` and the client's capabilities. */
export function readClient(info: unknown, capabilities: unknown): DeclaredClient {
  if (!isRecord(capabilities)) return { ...UNKNOWN_CLIENT, info: infoOf(info) };
  const { elicitation, extensions, sampling, roots } = capabilities;
  const forms = isRecord(elicitation) ? elicitation : null;
  return {
    info: infoOf(info),
    hasTasks: isRecord(extensions) && isRecord(extensions[TASKS_EXTENSION]),
    // An empty object is the form of clients that know no other mode.
    elicitsForm: forms !== null && (forms['form'] !== undefined || forms['url'] === undefined),
    elicitsUrl: forms !== null && forms['url'] !== undefined,
    samples: isRecord(sampling),
    hasRoots: isRecord(roots),
  };
}

function infoOf(info: unknown): DeclaredClient['info'] {
  return mcpClientOf(info) ?? null;
}
