import { describe, expect, it } from 'vitest';
import type { TenantSettings } from '../core/access/tenant-directory.ts';
import type { UpstreamsSettings } from '../settings/read-upstreams.ts';
import { checkNames, isOfUpstream, type NamedPack } from './check-names.ts';

const PACKS: readonly NamedPack[] = [{ name: 'essentials', tools: [{ name: 'weather.query' }] }];
const NO_UPSTREAMS: UpstreamsSettings = { mcp: [], openapi: [], secretValues: [] };

function upstream(name: string): UpstreamsSettings['mcp'][number] {
  return {
    kind: 'mcp',
    name,
    tenants: null,
    onChange: 'ask',
    concurrency: 8,
    timeoutMs: 60_000,
    transport: { kind: 'http', url: 'http://one.example', headers: {}, auth: null },
    tools: ['*'],
    protocol: 'auto',
    hints: 'believe',
    inputRequests: true,
    sampling: false,
  };
}

interface Named {
  readonly tools?: readonly string[];
  readonly packs?: readonly string[];
  readonly upstreams?: readonly string[];
}

function check({ tools = [], packs = [], upstreams = [] }: Named): void {
  const tenant: TenantSettings = { sites: null, packs, limits: {} };
  const settings = {
    tenants: new Map([['acme', tenant]]),
    toolTimeoutsMs: new Map(tools.map((name) => [name, 5])),
    toolCacheMs: new Map<string, number>(),
    upstreams: { ...NO_UPSTREAMS, mcp: upstreams.map(upstream) },
  };
  checkNames(settings, PACKS);
}

describe('checkNames', () => {
  it('accepts tools and packs of upstreams that are not connected yet', () => {
    expect(() =>
      check({
        upstreams: ['github'],
        tools: ['github.search', 'weather.query'],
        packs: ['mcp:github', 'essentials'],
      }),
    ).not.toThrow();
  });

  it('refuses names of no upstream and no pack', () => {
    expect(() => check({ tools: ['github.search'] })).toThrow(
      'tools.github.search: no pack or upstream has a tool of that name',
    );
    expect(() => check({ upstreams: ['git'], tools: ['github.search'] })).toThrow('tools.github.search');
    expect(() => check({ upstreams: ['github'], packs: ['openapi:github'] })).toThrow(
      'tenants.acme.packs names openapi:github, but there are essentials, mcp:github',
    );
  });

  it("refuses an upstream with the prefix of a pack's tools", () => {
    expect(() => check({ upstreams: ['weather'] })).toThrow(
      'upstreams.weather: tools of the pack essentials begin with weather., so the upstream needs another name',
    );
  });
});

it('isOfUpstream compares whole prefixes', () => {
  const upstreams = { ...NO_UPSTREAMS, mcp: [upstream('github')] };
  expect(['github', 'github.*', 'github.search'].every((one) => isOfUpstream(one, upstreams))).toBe(true);
  expect(['git', 'git*', 'githubs.x', 'weather.query'].some((one) => isOfUpstream(one, upstreams))).toBe(
    false,
  );
});
