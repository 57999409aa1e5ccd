import type { UpstreamView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { changedCount, contractChangeOf, prefixOf, protocolOf, upstreamOf } from './upstream-facts.ts';

const CHANGE = { from: 'v1', since: '2026-01-01T00:00:00Z', differences: [] };

describe('the upstream of a tool', () => {
  it('is the part of its name before the first dot, if an upstream provides it', () => {
    expect(upstreamOf('mcp', 'github.issues.list')).toBe('github');
    expect(upstreamOf('openapi', 'shop.getOrder')).toBe('shop');
    expect(upstreamOf('server', 'weather.query')).toBeNull();
    expect(upstreamOf('client', 'camera')).toBeNull();
    expect(prefixOf('alone')).toBe('alone');
  });
});

describe('the protocol of an upstream', () => {
  it('has its version, and the era of MCP', () => {
    expect(protocolOf({ kind: 'mcp', protocol: '2025-06-18' })).toEqual({
      name: 'MCP 2025-06-18',
      era: 'legacy',
    });
    expect(protocolOf({ kind: 'mcp', protocol: '2026-07-28' })).toEqual({
      name: 'MCP 2026-07-28',
      era: 'modern',
    });
    expect(protocolOf({ kind: 'openapi', protocol: '3.1.0' })).toEqual({ name: 'OpenAPI 3.1.0', era: null });
    expect(protocolOf({ kind: 'openapi', protocol: 'OpenAPI 3.1' })).toEqual({
      name: 'OpenAPI 3.1',
      era: null,
    });
    expect(protocolOf({ kind: 'mcp', protocol: null })).toEqual({ name: 'MCP', era: null });
  });
});

describe('changed contracts', () => {
  it('are counted over all upstreams', () => {
    const tool = { name: 'a.b', version: 'v', annotations: {} };
    const upstreams = [
      { tools: [tool, { ...tool, change: CHANGE }] },
      { tools: [{ ...tool, change: CHANGE }] },
    ] as unknown as UpstreamView[];
    expect(changedCount(upstreams)).toBe(2);
    expect(changedCount([])).toBe(0);
  });

  it('are found in the metadata of an approval; other metadata holds none', () => {
    const differences = [{ path: '/description', before: 'a', after: 'b' }];
    expect(contractChangeOf({ contract_change: { from: 'v1', differences } })).toEqual(differences);
    expect(contractChangeOf({ contract_change: { differences: [...differences, 7, null] } })).toEqual(
      differences,
    );
    expect(contractChangeOf({ contract_change: 'yes' })).toBeNull();
    expect(contractChangeOf({ ticket: 4 })).toBeNull();
    expect(contractChangeOf(null)).toBeNull();
    expect(contractChangeOf(undefined)).toBeNull();
  });
});
