import { mcpClientConfig } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { callRequest, connectionTo } from './mcp-request.ts';

const ORIGIN = 'https://tools.example';

function commandFor(given: { tenant: string; needsKey: boolean }): string | undefined {
  return mcpClientConfig('claude-code', connectionTo(ORIGIN, given))?.command;
}

describe('connectionTo', () => {
  it('has the URL alone in local mode', () => {
    expect(commandFor({ tenant: 'default', needsKey: false })).toBe(
      'claude mcp add --transport http pb https://tools.example/mcp',
    );
  });

  it('sends a key, and names another tenant', () => {
    expect(commandFor({ tenant: 'north', needsKey: true })).toBe(
      'claude mcp add --transport http pb https://tools.example/mcp ' +
        "--header 'Authorization: Bearer pb_…' --header 'X-Tenant-ID: north'",
    );
  });
});

describe('callRequest', () => {
  it('is a JSON-RPC request without _meta', () => {
    expect(callRequest('toy__echo', { n: 1 })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'toy__echo', arguments: { n: 1 } },
    });
  });
});
