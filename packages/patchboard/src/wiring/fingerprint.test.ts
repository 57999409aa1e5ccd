import { describe, expect, it } from 'vitest';
import { nodeDigest } from '../runtime/digest.ts';
import { resolveSettings, type Settings } from '../settings/settings.ts';
import { fingerprintOf } from './fingerprint.ts';

const settings = resolveSettings({}, {});
const tools = [{ name: 'echo', version: 'v1' }];

function of(given: Partial<Settings> = {}, offered = tools, version = '1.0.0'): string {
  return fingerprintOf({ settings: { ...settings, ...given }, version, tools: offered, digest: nodeDigest });
}

describe('the fingerprint of a node', () => {
  it('is the same for the same settings, tools and version, wherever the node runs', () => {
    expect(of()).toMatch(/^[0-9a-f]{16}$/);
    expect(of({ host: '10.0.0.9', port: 1, dataFolder: '/elsewhere' })).toBe(of());
    const [one, other] = [
      { name: 'a', version: '1' },
      { name: 'b', version: '1' },
    ];
    expect(of({}, [one, other])).toBe(of({}, [other, one]));
  });

  it.each([
    ['the version', () => of({}, tools, '1.0.1')],
    ['the contract of a tool', () => of({}, [{ name: 'echo', version: 'v2' }])],
    ['a tool that is missing', () => of({}, [])],
    ['the policy', () => of({ policy: { default: { mode: 'deny' } } })],
    ['a limit', () => of({ limits: { ...settings.limits, drainMs: 1 } })],
    ['the time of a tool', () => of({ toolTimeoutsMs: new Map([['echo', 5]]) })],
    ['a tenant', () => of({ tenants: new Map([['acme', { sites: [], packs: null, limits: {} }]]) })],
    ['a pack', () => of({ packModules: ['./more.mjs'] })],
    ['the hooks', () => of({ hookModules: ['./hooks.mjs'] })],
  ])('differs with %s', (_what, changed) => {
    expect(changed()).not.toBe(of());
  });
});
