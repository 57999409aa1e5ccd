import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveSettings, type Settings } from './settings.ts';

describe('the tenants in the settings', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'patchboard-tenants-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function settings(text: string, environment: Record<string, string> = {}): Settings {
    const config = join(folder, 'patchboard.yaml');
    writeFileSync(config, text);
    return resolveSettings(environment, { config });
  }

  it('are the demonstration tenant when the config has no tenants', () => {
    const { tenants, isDemonstration } = settings('');
    expect(isDemonstration).toBe(true);
    expect([...tenants]).toEqual([['yantian', { sites: ['yantian-main'], packs: ['heritage'], limits: {} }]]);
  });

  it('are read with sites, packs, limits and internal keys', () => {
    const { tenants, isDemonstration, internalKeys } = settings(
      `
tenants:
  acme:
    sites: [old-town]
    packs: [heritage]
    limits: { calls: { burst: 10, per_second: 5 }, tools: { search_content: { burst: 2, per_second: 0.5 } } }
  plain: {}
auth:
  internal_keys: [{ tenant: acme, key_env: FIRST }, { tenant: acme, key_env: SECOND }]
`,
      { FIRST: 'the-first-of-two-keys', SECOND: 'the-second-of-two-keys' },
    );
    expect(isDemonstration).toBe(false);
    expect(Object.fromEntries(tenants)).toEqual({
      acme: {
        sites: ['old-town'],
        packs: ['heritage'],
        limits: {
          calls: { burst: 10, perSecond: 5 },
          tools: new Map([['search_content', { burst: 2, perSecond: 0.5 }]]),
        },
      },
      plain: { sites: null, packs: null, limits: { tools: new Map() } },
    });
    expect(internalKeys).toEqual([
      { tenant: 'acme', secret: 'the-first-of-two-keys' },
      { tenant: 'acme', secret: 'the-second-of-two-keys' },
    ]);
  });

  it.each([
    ['tenants: { acme: { site: [a] } }', {}, /:1: unknown key tenants.acme.site/],
    ["tenants: { acme: { sites: ['old town'] } }", {}, /:1: tenants.acme.sites.0 must match/],
    ["tenants: { 'ac me': {} }", {}, /:1: tenants/],
    ['tenants: { acme: { limits: { calls: { burst: 1 } } } }', {}, /per_second/],
    ['auth: { internal_keys: [{ tenant: acme }] }', {}, /key_env/],
    ['auth: { internal_keys: [{ tenant: acme, key_env: KEY }] }', {}, /KEY must hold at least 16 characters/],
    ['auth: { internal_keys: [{ tenant: acme, key_env: KEY }] }', { KEY: 'short' }, /at least 16 characters/],
    [
      'auth: { internal_keys: [{ tenant: acme, key_env: KEY }] }',
      { KEY: 'pb_looks-like-one-of-ours' },
      /begins with pb_/,
    ],
    [
      'auth: { internal_keys: [{ tenant: a, key_env: KEY }, { tenant: b, key_env: KEY }] }',
      { KEY: 'one-key-for-two-tenants' },
      /internal_keys\[1\]: KEY holds the key of tenant a already/,
    ],
  ])('%s is refused', (text, environment, message) => {
    expect(() => settings(text, environment)).toThrow(message);
  });

  it('never include a key in an error message', () => {
    const text = 'auth: { internal_keys: [{ tenant: a, key_env: KEY }] }';
    for (const KEY of ['short', 'pb_looks-like-one-of-ours']) {
      expect(() => settings(text, { KEY })).toThrow(expect.not.stringContaining(KEY));
    }
  });
});
