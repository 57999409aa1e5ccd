import { describe, expect, it } from 'vitest';
import { anEngine } from '../../test/support/an-engine.ts';
import { AnUpstream } from '../../test/support/an-upstream.ts';
import { ConfigError } from '../settings/config-file.ts';
import type { AnyUpstreamSettings, UpstreamsSettings } from '../settings/read-upstreams.ts';
import type { McpUpstreamSettings } from '../sources/mcp/mcp-upstream-settings.ts';
import { UpstreamSet } from './upstream-set.ts';

function settingsOf(name: string, url = 'http://127.0.0.1:1/mcp'): McpUpstreamSettings {
  return {
    ...new AnUpstream({ name }).settings,
    kind: 'mcp',
    transport: { kind: 'http', url, headers: {}, auth: null },
    tools: ['*'],
    protocol: 'auto',
    hints: 'believe',
    inputRequests: true,
    sampling: false,
  };
}

/** A set over a real engine; `config` is what the next reload reads. */
async function aSet(names: readonly string[]) {
  const { engine } = await anEngine({});
  const made: AnUpstream[] = [];
  const secrets: string[] = [];
  const config = { value: upstreamsOf(names.map((name) => settingsOf(name))) };
  const set = new UpstreamSet({
    service: engine.upstreams,
    configure: (tool) => tool,
    make: async (settings: AnyUpstreamSettings) => {
      if (settings.name === 'broken') throw new ConfigError('upstreams.broken: no sandbox');
      const upstream = new AnUpstream(settings);
      made.push(upstream);
      return upstream;
    },
    read: () => config.value,
    addSecrets: (values) => secrets.push(...values),
  });
  await set.open(config.value);
  const names_ = (): string[] => engine.upstreams.list().map(({ upstream }) => upstream.settings.name);
  return { set, config, made, secrets, names: names_ };
}

function upstreamsOf(
  mcp: readonly McpUpstreamSettings[],
  secretValues: readonly string[] = [],
): UpstreamsSettings {
  return { mcp, openapi: [], secretValues };
}

describe('a reload of upstreams', () => {
  it('adds, removes and restarts exactly those that changed', async () => {
    const { set, config, made, names } = await aSet(['a', 'b', 'c']);
    config.value = upstreamsOf([settingsOf('a'), settingsOf('b', 'http://127.0.0.1:2/mcp'), settingsOf('d')]);
    expect(await set.reload()).toEqual({ added: ['d'], removed: ['c'], restarted: ['b'] });
    expect(names()).toEqual(['a', 'b', 'd']);
    expect(made.map(({ settings, isClosed }) => [settings.name, isClosed])).toEqual([
      ['a', false],
      ['b', true],
      ['c', true],
      ['b', false],
      ['d', false],
    ]);
    expect(await set.reload()).toEqual({ added: [], removed: [], restarted: [] });
  });

  it('changes nothing if one setting is invalid', async () => {
    const { set, config, made, names } = await aSet(['a', 'b']);
    config.value = upstreamsOf([settingsOf('c'), settingsOf('broken')]);
    expect(await set.reload()).toMatchObject({ code: 'conflict', message: 'upstreams.broken: no sandbox' });
    expect([names(), made.filter(({ isClosed }) => isClosed)]).toEqual([['a', 'b'], []]);
  });

  it('goes on if the connection of one cannot be closed', async () => {
    const { set, config, made, names } = await aSet(['a', 'b']);
    for (const upstream of made) upstream.close = () => Promise.reject(new Error('it does not end'));
    config.value = upstreamsOf([settingsOf('b', 'http://127.0.0.1:2/mcp'), settingsOf('c')]);
    expect(await set.reload()).toEqual({ added: ['c'], removed: ['a'], restarted: ['b'] });
    expect(names()).toEqual(['b', 'c']);
  });

  it('masks new secrets before the upstream is used', async () => {
    const { set, config, secrets } = await aSet([]);
    config.value = upstreamsOf([settingsOf('a')], ['planted-secret']);
    await set.reload();
    expect(secrets).toEqual(['planted-secret']);
  });
});
