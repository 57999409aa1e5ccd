import { describe, expect, it } from 'vitest';
import { YANTIAN } from './sample/yantian.ts';
import { decodeSiteData } from './site-data.ts';

const NOW = '2024-12-13T12:00:00.000Z';
const poi = { id: 'a', name: 'b', type: 'c' };

describe('decodeSiteData', () => {
  it('accepts the sample, and does not change its argument', () => {
    const before = structuredClone(YANTIAN);
    expect(decodeSiteData(YANTIAN, NOW)).toEqual({ ok: true, data: before });
    const given = { site_name: '村' };
    expect(decodeSiteData(given, NOW)).toEqual({
      ok: true,
      data: { site_name: '村', contents: [], npcs: [], prompts: [], pois: [], routes: [] },
    });
    expect(given).toEqual({ site_name: '村' });
  });

  it('fills in defaults', () => {
    const contents = [{ id: 'a', content_type: 'story', title: '题', body: '文' }];
    expect(decodeSiteData({ site_name: '村', contents }, NOW)).toMatchObject({
      data: { contents: [{ status: 'published', tags: [], verified: false, created_at: NOW }] },
    });
  });

  it.each<[string, unknown, string, RegExp]>([
    ['no object', [], '', /object/],
    ['no name', { contents: [] }, '', /site_name/],
    ['an unknown member', { site_name: 'x', places: [] }, '/places', /not known/],
    ['an unknown member inside', { site_name: 'x', pois: [{ ...poi, lat: 1 }] }, '/pois/0/lat', /not known/],
    ['a value out of range', { site_name: 'x', pois: [{ ...poi, latitude: 91 }] }, '/pois/0/latitude', /90/],
    ['an empty id', { site_name: 'x', pois: [{ ...poi, id: ' ' }] }, '/pois/0/id', /pattern/],
    ['an id twice', { site_name: 'x', pois: [poi, poi] }, '/pois/1', /duplicate: a/],
    [
      'two active versions',
      {
        site_name: 'x',
        npcs: [
          { npc_id: 'a', name: 'b' },
          { npc_id: 'a', name: 'b', version: 2 },
        ],
      },
      '/npcs/1',
      /duplicate: an active a/,
    ],
    [
      'a prompt of no known type',
      { site_name: 'x', prompts: [{ npc_id: 'a', prompt_type: 'other', prompt_text: 'b' }] },
      '/prompts/0/prompt_type',
      /must be one of/,
    ],
  ])('returns the path of %s', (_name, value, path, message) => {
    const decoded = decodeSiteData(value, NOW);
    const problems = decoded.ok ? [] : decoded.problems;
    expect(problems).toContainEqual({ path, message: expect.stringMatching(message) as string });
  });
});
